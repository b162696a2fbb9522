// Runs inside the sandbox: requests over one HTTP/2 connection.
//   node h2.js '{"origin": "https://a.test", "sni": "a.test", "requests":
//              [{":authority": "b.test", ":path": "/"}]}'
// prints a list of {status, headers, data, alpn} or {error}.
const http2 = require('http2');
const ask = JSON.parse(process.argv[2]);
const options = { ALPNProtocols: ['h2'] };
if (ask.sni) options.servername = ask.sni;
const session = http2.connect(ask.origin, options);
const done = (results) => {
  console.log(JSON.stringify(results));
  process.exit(0);
};
session.on('error', (e) => done(ask.requests.map(() => (
  { error: e.code || e.message }))));
setTimeout(() => done(ask.requests.map(() => ({ error: 'time' }))), 15000);

const one = (headers) => new Promise((resolve) => {
  const { body, ...rest } = headers;
  let stream;
  try {
    stream = session.request(rest, { endStream: body === undefined });
  } catch (e) {
    resolve({ error: e.code || e.message });
    return;
  }
  const out = { data: '' };
  stream.on('response', (h) => {
    out.status = h[':status'];
    out.alpn = session.alpnProtocol;
    out.headers = { ...h };
    if (rest[':method'] === 'CONNECT') {
      stream.write(Buffer.from(body || 'through the tunnel', 'latin1'));
      setTimeout(() => { stream.close(); resolve(out); }, 1000);
    }
  });
  stream.setEncoding('latin1');
  stream.on('data', (d) => { out.data = (out.data + d).slice(0, 2000); });
  stream.on('error', (e) => { out.error = e.code || e.message; });
  stream.on('close', () => resolve(out));
  if (body !== undefined && rest[':method'] !== 'CONNECT') stream.end(body);
});

(ask.turns
  ? ask.requests.reduce((before, r) => before.then(async (all) => (
    [...all, await one(r)])), Promise.resolve([]))
  : Promise.all(ask.requests.map(one))).then(done);
