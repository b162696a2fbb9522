// An agent with a secret in a file of its home, and tools that want it: each
// attack is a child process of this one. Prints one JSON object: what each
// printed, and what the process itself could do.
'use strict';
const fs = require('fs'), cp = require('child_process');
const home = process.env.HOME, dir = home + '/.claude';
const file = dir + '/.credentials.json', here = process.cwd();
const said = {}, own = {};

function tries(name, command, more) {
	const r = cp.spawnSync('sh', ['-c', command],
		{encoding: 'utf8', timeout: 20000, ...more});
	said[name] = (r.stdout || '') + (r.stderr || '');
	mend(name);
}

// What an attack changed is put back, for the next, and noted.
const changed = [];
let content = 'TOKEN-first\n', at = file;

function mend(name) {
	let now = null;
	try {
		now = fs.readFileSync(at, 'utf8');
	} catch (e) {
		now = e.code;
	}
	if (now === content)
		return;
	changed.push(name);
	fs.rmSync(home + '/other', {recursive: true, force: true});
	fs.mkdirSync(dir, {recursive: true});
	fs.rmSync(at, {force: true});
	fs.writeFileSync(at, content);
}

function does(name, action) {
	try {
		own[name] = String(action());
	} catch (e) {
		own[name] = e.code || e.message;
	}
}

does('reads', () => (globalThis.keep = fs.readFileSync(file, 'utf8')).trim());
const fd = fs.existsSync(file) && own.reads.startsWith('TOKEN')
	? fs.openSync(file, 'r') : -1;
const me = process.pid;
Object.assign(process.env, {FILE: file, DIR: dir, HERE: here, ME: me, FD: fd,
	AGAIN: process.execPath + ' -e "console.log(require(\'fs\').readFileSync(' +
		`'${file}','utf8'))"`});
for (const line of fs.readFileSync('attacks', 'utf8').trim().split('\n'))
	tries(...line.split('\t'));

content = 'TOKEN-new\n';
does('rewrites', () => {
	fs.writeFileSync(file + '.tmp', 'TOKEN-new\n', {mode: 0o600});
	fs.renameSync(file + '.tmp', file);
	return fs.readFileSync(file, 'utf8').trim();
});
tries('cat of the new one', `cat ${file}`);
does('refreshes', () => {
	fs.writeFileSync(file, 'TOKEN-newer\n');
	fs.appendFileSync(file, 'more\n');
	fs.chmodSync(file, 0o600);
	return fs.readFileSync(file, 'utf8').trim();
});
does('removes', () => {
	fs.unlinkSync(file);
	fs.writeFileSync(file, 'TOKEN-last\n');
	return fs.readFileSync(file, 'utf8').trim();
});
content = 'TOKEN-last\n';
at = home + '/aside';
does('moves aside', () => {
	fs.renameSync(file, home + '/aside');
	return fs.readFileSync(home + '/aside', 'utf8').trim();
});
tries('cat of what was moved', `cat ${home}/aside`);
does('moves back', () => (fs.renameSync(home + '/aside', file), 'done'));
own.dumpable = fs.statSync('/proc/self/mem').uid;

// Where the process goes on while its tools try: its debugger.
function later(name, command, then) {
	cp.exec(command, {timeout: 20000}, (e, out, err) => {
		said[name] = out + err;
		then();
	});
}

const probe = 'sleep 0.7; curl -s -m 3 http://127.0.0.1:9229/json';
later('SIGUSR1', `kill -USR1 ${me}; ${probe}`, () =>
	later('SIGUSR1 by a descriptor',
		`python3 ${here}/attack.py sigio ${me}; ${probe}`, () => {
			process.stdout.write(JSON.stringify({said, own, changed}) + '\n',
				() => process.exit(0));
		}));
