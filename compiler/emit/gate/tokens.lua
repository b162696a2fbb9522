
-- Sentinels in headers. Key: the credential's number, and the digits that say
-- which field a sentinel stands for; the value is the secret.
local tokens = Map.new("/run/gate/tokens.map", Map._str)
local sentinel = "membrane(" .. ("%x"):rep(24) .. ")%x*"

-- How many bytes before a sentinel are its own: the first two parts of a JWT,
-- or what was left of a prefix. From behind, so that no text is read twice.
local function belonging(before)
  local behind = before:reverse()
  local claims = behind:match("^%.[%w_%-]+%.[%w_%-]+")
  if claims and sub(claims, -3) == "Jye" then return #claims end
  return #behind:match("^[%w_%-]*")
end

local function filled(number, value)
  local out, at = {}, 1
  while true do
    local first, last, digits = value:find(sentinel, at)
    if not first then break end
    local secret = tokens:lookup(number .. ":" .. digits)
    local before = sub(value, at, first - 1)
    if secret then
      out[#out + 1] = sub(before, 1, #before - belonging(before)) .. secret
    else
      out[#out + 1] = sub(value, at, last)
    end
    at = last + 1
  end
  return #out > 0 and table.concat(out) .. sub(value, at) or value
end

core.register_action("tokens", {"http-req"}, function(txn, number)
  for name, values in pairs(txn.http:req_get_headers()) do
    local changed = false
    for i, value in pairs(values) do
      values[i] = filled(number, value)
      changed = changed or values[i] ~= value
    end
    if changed then
      txn.http:req_del_header(name)
      for i = 0, #values do txn.http:req_add_header(name, values[i]) end
    end
  end
end, 1)

-- Renewals: the gate has the launcher ask for new tokens on the host, and what
-- comes back has sentinels in it. "N ADDR KIND BYTES", who asks, and the body;
-- the answer is "STATUS BYTES" and a body of JSON.
local body_max = 8192

local function renewed(applet)
  local headers = applet.headers
  local function header(name) return (headers[name] or {})[0] or "" end
  local length = tonumber(header("content-length"))
  if length and length > body_max then return 413 end
  local body = applet:receive(body_max + 1) or ""
  if #body > body_max then return 413 end
  local form = header("content-type"):lower():find("x-www-form-urlencoded", 1, true)
  local s = core.tcp()
  s:settimeout(60)
  if not s:connect("unix@/run/gate/renewal.sock") then return 502 end
  s:send(string.format("%d %s %s %d\n%s\n", applet:get_var("txn.renewal"),
                       applet:get_var("txn.renewed_at"),
                       form and "form" or "json", #body,
                       header("user-agent"):gsub("[^ -~]", ""):sub(1, 200)))
  s:send(body)
  local status, bytes = (s:receive("*l") or ""):match("^(%d%d%d) (%d+)$")
  local answer = status and s:receive(tonumber(bytes))
  s:close()
  if not answer then return 502 end
  return tonumber(status), answer
end

core.register_service("renew", "http", function(applet)
  local status, answer = renewed(applet)
  answer = answer or '{"error":"server_error","error_description":' ..
                     '"membrane: the tokens were not renewed"}'
  applet:set_status(status)
  applet:add_header("content-type", "application/json")
  applet:add_header("cache-control", "no-store")
  applet:add_header("content-length", tostring(#answer))
  applet:start_response()
  applet:send(answer)
end)
