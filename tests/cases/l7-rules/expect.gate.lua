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
  local reason, name, ech = parse(txn.f:req_payload(0, 0) or "")
  txn:set_var("sess.reason", reason)
  if name then txn:set_var("sess.name", name) end
  if ech then txn:set_var("sess.ech", "1") end
end)

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

-- Where nobody spoke in time, other protocols may pass: but not a client that
-- waits before it speaks TLS or HTTP, whose name nobody checks then.
local late = {id = "late", flags = 0}
late.__index = late

-- Nobody's request line is longer.
local line_max = 1 << 20

local methods = {
  GET = 1, HEAD = 1, POST = 1, PUT = 1, DELETE = 1, OPTIONS = 1, PATCH = 1,
  CONNECT = 1, TRACE = 1, PRI = 1,
}

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
  if target:match("[ \t\v\f\r]HTTP/") then return "http" end
  return (ended ~= "" or #b > line_max) and "raw" or nil
end

function late:new()
  return setmetatable({said = ""}, late)
end

function late:start_analyze(txn, chn)
  if not chn:is_resp() then filter.register_data_filter(self, chn) end
end

-- What is forwarded before it is decided is never a whole request line.
function late:tcp_payload(txn, chn)
  local b = chn:data(0, -1) or ""
  if b == "" then return end
  self.said = self.said .. b
  local what = kind(self.said)
  if what == "http" or what == "tls" then
    txn:set_var("sess.verdict", "deny")
    txn:set_var("sess.reason", what == "tls" and "bad-hello" or "bad-request")
    chn:remove(0, -1)
    error("TLS or HTTP after a silence", 0)
  end
  if what then filter.unregister_data_filter(self, chn) end
end

core.register_filter("late", late, function(self, args) return self end)
