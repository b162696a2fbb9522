-- What HAProxy's own language cannot say. The same for every policy.

local sub, byte = string.sub, string.byte

local function u16(s, i)
  local a, b = byte(s, i, i + 1)
  return a * 256 + b
end

-- A ClientHello that fills one record, has each extension once and one name:
-- reason, name, whether it has an encrypted part. RFC 8446, 4.1.2; RFC 6066, 3.
local function parse(b)
  local bad = "bad-hello"
  if #b < 9 or byte(b, 1) ~= 22 or byte(b, 2) ~= 3 then return bad end
  local record = u16(b, 4)
  if #b ~= 5 + record then return bad end
  if byte(b, 6) ~= 1 or byte(b, 7) ~= 0 then return bad end
  if u16(b, 8) + 4 ~= record then return bad end
  local last, p = 5 + record, 10 + 2 + 32
  if p > last then return bad end
  p = p + 1 + byte(b, p)
  if p + 1 > last then return bad end
  p = p + 2 + u16(b, p)
  if p > last then return bad end
  p = p + 1 + byte(b, p)
  if p > last then return "no-sni" end
  if p + 1 > last or p + 1 + u16(b, p) ~= last then return bad end
  p = p + 2
  local seen, name, ech = {}, nil, false
  while p <= last do
    if p + 3 > last then return bad end
    local t, l = u16(b, p), u16(b, p + 2)
    if p + 3 + l > last or seen[t] then return bad end
    seen[t] = true
    if t == 0xfe0d or t == 0xffce then ech = true end
    if t == 0 then
      if l < 6 or u16(b, p + 4) ~= l - 2 or byte(b, p + 6) ~= 0 or
         u16(b, p + 7) ~= l - 5 then return bad end
      name = sub(b, p + 9, p + 3 + l):lower()
      if #name > 253 or not (name .. "."):match("^[%w_][%w_%-%.]*$") then
        return bad
      end
      for label in (name .. "."):gmatch("([^.]*)%.") do
        if #label < 1 or #label > 63 then return bad end
      end
    end
    p = p + 4 + l
  end
  if not name then return "no-sni" end
  return "-", name, ech
end

core.register_action("hello", {"tcp-req"}, function(txn)
  local b = txn.f:req_payload(0, 0) or ""
  -- What follows may be data sent early, or another hello: see "second".
  if #b >= 5 then b = sub(b, 1, 5 + u16(b, 4)) end
  local reason, name, ech = parse(b)
  txn:set_var("sess.reason", reason)
  if name then txn:set_var("sess.name", name) end
  if ech then txn:set_var("sess.ech", "1") end
end)

local function refuse(txn, chn, reason, name)
  txn:set_var("sess.verdict", "deny")
  txn:set_var("sess.reason", reason)
  txn:set_var("sess.rule", "-")
  if name then txn:set_var("sess.name", name) end
  chn:remove(0, -1)
  error(reason, 0)
end

-- A server that wants another key asks for a second hello in the clear, and
-- obeys the name in that one: RFC 8446, 4.1.4. Until the server's own hello
-- says that none follows, all that a client sends of a handshake is a hello as
-- exact as the first, with its name. Encrypted records pass: of data that is
-- sent early, which a server that asks passes over.
local second = {id = "second", flags = 0}
second.__index = second

-- The Random of a server that asks: RFC 8446, 4.1.3.
local ask = "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91" ..
            "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"
local record_max = 1 << 14

-- The next record of a handshake, whole; nil: not there yet; false: no record.
local function handshake(way)
  while true do
    local over = math.min(way.over, #way.said)
    way.said, way.over = sub(way.said, over + 1), way.over - over
    local kind, major = byte(way.said, 1, 2)
    if kind and (kind < 20 or kind > 24) or major and major ~= 3 then
      return false
    end
    if #way.said < 5 then return nil end
    local size = u16(way.said, 4)
    if kind == 22 and size > record_max then return false end
    if kind == 22 then
      if #way.said < 5 + size then return nil end
      local record = sub(way.said, 1, 5 + size)
      way.said = sub(way.said, 6 + size)
      return record
    end
    way.over = 5 + size
  end
end

-- Whether the server asks for no other hello; false: that is not known.
local function settled(way)
  while true do
    local m = way.message
    if #m >= 38 then
      if byte(m) ~= 2 then return false end
      if sub(m, 7, 38) ~= ask then return true end
      local size = 4 + byte(m, 2) * 65536 + u16(m, 3)
      if size > record_max then return false end
      if #m >= size then way.message = sub(m, size + 1) end
    end
    if #m < 38 or way.message == m then
      local record = handshake(way)
      if not record then return record end
      way.message = m .. sub(record, 6)
    end
  end
end

function second:new()
  return setmetatable({
    up = {said = "", over = 0},
    down = {said = "", over = 0, message = ""},
  }, second)
end

function second:start_analyze(txn, chn)
  filter.register_data_filter(self, chn)
end

-- What is forwarded before it is decided is never a whole hello.
function second:tcp_payload(txn, chn)
  local b = chn:data(0, -1) or ""
  local way = chn:is_resp() and self.down or self.up
  if self.done or txn:get_var("sess.bump") then
    return filter.unregister_data_filter(self, chn)
  end
  way.said = way.said .. b
  if chn:is_resp() then
    self.done = settled(way)
    if self.done ~= nil then filter.unregister_data_filter(self, chn) end
    return
  end
  local record = handshake(way)
  while record do
    local reason, name, ech = parse(record)
    if reason == "no-sni" then name = "-" end
    if not name or name ~= txn:get_var("sess.name") or ech then
      refuse(txn, chn, "second-hello", name)
    end
    record = handshake(way)
  end
  if record == false then refuse(txn, chn, "second-hello") end
end

core.register_filter("second", second, function(self, args) return self end)

-- A certificate for the name, made by the gate on first use.
core.register_action("leaf", {"tcp-req"}, function(txn)
  local s = core.tcp()
  s:settimeout(3)
  if s:connect("unix@/run/gate/signer.sock") then
    s:send(txn:get_var("sess.name") .. "\n")
    s:receive("*l")
  end
  s:close()
end)

-- Other protocols pass. But not a client that waits before it speaks TLS or
-- HTTP, whose name nobody checks then; nor one whose request stands behind
-- something that lenient servers pass over, or is spelt as they alone take it:
-- what a client says is looked at until the server answers, however much it is.
local late = {id = "late", flags = 0}
late.__index = late

-- Nobody's request line is longer.
local line_max = 1 << 20

local methods = {
  GET = 1, HEAD = 1, POST = 1, PUT = 1, DELETE = 1, OPTIONS = 1, PATCH = 1,
  CONNECT = 1, TRACE = 1, PRI = 1,
}

-- What a version, or a method with blanks and a target, may take of the bytes
-- that were there before.
local tail_max = 256

-- A version behind a blank, or a method before a target, in any letters.
local function has_request(b)
  b = b:upper()
  if b:find("[ \t\v\f\r\0]HTTP/") then return true end
  for word, at in b:gmatch("%f[%a](%a+)[ \t\v\f\r\0]+()") do
    local target = sub(b, at, at + 3)
    if methods[word] and (target:match("^[/*]") or target == "HTTP") then
      return true
    end
  end
  return false
end

-- "http", "tls", "raw"; nil while it could still become any.
local function kind(b)
  local one, two, three, four = byte(b, 1, 4)
  if one == 22 then return "tls" end
  -- Records of other kinds, which some servers skip before a hello.
  if one >= 20 and one <= 24 and (not two or two == 3) then
    return two and "tls"
  end
  if one >= 128 and (not four or three == 1 and (four == 0 or four == 3)) then
    return four and "tls"
  end
  local method, rest = b:match("^%s*([%w!#$%%&'*+.^_`|~-]+)(.*)")
  if not method then return b:match("%S") and "raw" end
  if rest == "" or rest == "\r" then return nil end
  if rest:match("^\r\n") or not rest:match("^[ \t\v\f\r]") then return "raw" end
  if methods[method] then return "http" end
  local target, ended = rest:match("^([^\n]*)(.?)")
  if target:upper():match("[ \t\v\f\r]HTTP/") then return "http" end
  return (ended ~= "" or #b > line_max) and "raw" or nil
end

function late:new()
  return setmetatable({said = "", tail = "", heard = ""}, late)
end

function late:start_analyze(txn, chn)
  filter.register_data_filter(self, chn)
end

-- What is forwarded before it is decided is never a whole request line.
function late:from_client(txn, chn, b)
  if not self.raw then
    self.said = self.said .. b
    local what = kind(self.said)
    if what == "tls" then refuse(txn, chn, "bad-hello") end
    if what == "http" then refuse(txn, chn, "bad-request") end
    self.raw = what == "raw"
  end
  b = self.tail .. b
  if not self.answered and has_request(b) then
    refuse(txn, chn, "bad-request")
  end
  self.tail, self.spoke = sub(b, -tail_max), true
  if self.raw and self.answered then
    filter.unregister_data_filter(self, chn)
  end
end

-- Whoever answers as servers of HTTP do has read a request.
function late:from_server(txn, chn, b)
  self.heard = self.heard .. sub(b, 1, 5)
  local start = sub(self.heard, 1, 5):upper()
  if self.spoke and start == "HTTP/" then refuse(txn, chn, "bad-request") end
  if self.spoke and start == sub("HTTP/", 1, #start) then return end
  self.answered = true
  filter.unregister_data_filter(self, chn)
end

function late:tcp_payload(txn, chn)
  local b = chn:data(0, -1) or ""
  if b == "" then return end
  if chn:is_resp() then return self:from_server(txn, chn, b) end
  self:from_client(txn, chn, b)
end

core.register_filter("late", late, function(self, args) return self end)

-- What nothing allows and nothing denies, where a person may be asked: the gate
-- knows what was answered, or asks. What waits hears from it each second, and
-- looks then whether its own client is there still: HAProxy itself does not say
-- that one has closed that may only have said all. A buffer that is full says
-- nothing of that. As the gate has it: runtime/gate/ask/parts.h.
local wait_max_s = 700
local buffer_full = 1 << 14

local function seen(...)
  for _, field in ipairs({...}) do
    if not tostring(field):match("^[!-~]+$") then return false end
  end
  return true
end

local function put(txn, ...)
  local fields = {...}
  if not seen(...) then return "no not-asked" end
  local s = core.tcp()
  s:settimeout(wait_max_s)
  local line = nil
  if s:connect("unix@/run/gate/ask.sock") and
     s:send(table.concat(fields, " ") .. "\n") then
    repeat
      line = s:receive("*l")
    until line ~= "wait" or
          not txn.req:may_recv() and txn.req:input() < buffer_full
  end
  s:close()
  return line or "no not-asked"
end

local function ask_connection(txn, addr, port, sport)
  local line = put(txn, "conn", addr, port, sport)
  local door, real, serial = line:match("^yes (%l+) (%S+) (%d+)$")
  txn:set_var("sess.door", door or "-")
  if door then
    txn:set_var("sess.real", real)
    txn:set_var("sess.asked", serial)
  else
    txn:set_var("sess.reason", line:match("^no (%S+)$") or "not-answered")
  end
end

local function ask_hello(txn, addr, port, sport)
  local line = put(txn, "hello", addr, port, sport,
                   txn:get_var("sess.name") or "-")
  txn:set_var("sess.asked", line:match("^yes (%w+)$") or "-")
end

local function ask_request(txn, addr, port, sport)
  local line = put(txn, "request", addr, port, sport,
                   txn:get_var("txn.rule"), txn:get_var("txn.name") or "",
                   txn.sf:ssl_fc() == "1" and "https" or "http",
                   txn:get_var("txn.method") or "", txn:get_var("txn.path") or "")
  local real = line:match("^yes (%S+)$")
  if real then txn:set_var("txn.real", real) end
  txn:set_var("txn.asked", real and "answered" or line:match("^no (%S+)$") or
                           "not-answered")
end

core.register_action("ask", {"tcp-req", "http-req"}, function(txn, what)
  local kinds = {conn = ask_connection, hello = ask_hello,
                 request = ask_request}
  kinds[what](txn, txn.sf:dst(), txn.sf:dst_port(), txn.sf:src_port())
end, 1)
