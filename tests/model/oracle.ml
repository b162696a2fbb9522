(* Policies of several layers and requests at random, dense on purpose: each is
   asked of the model and of `membrane explain --decide -`, and both have to
   agree on the verdict and on its reason. Where `membrane trust --show` finds
   nothing in a workspace to approve, the model may permit nothing more with it.

     oracle MEMBRANE FOLDER REQUESTS SEED *)
open Decide

let rec pos_of i =
  if i = 1 then XH else if i land 1 = 1 then XI (pos_of (i / 2)) else XO (pos_of (i / 2))
let n_of i = if i = 0 then N0 else Npos (pos_of i)
(* Sixteen bits at a time, for addresses of IPv6. *)
let n_of_words ws =
  let rec twice k x = if k = 0 then x else twice (k - 1) (N.add x x) in
  List.fold_left (fun x w -> N.add (twice 16 x) (n_of w)) N0 ws

let pick a = a.(Random.int (Array.length a))
let one_in n = Random.int n = 0
let split_name s = List.rev (String.split_on_char '.' s)

type address = { text : string; v6 : bool; words : int list }
let ip4 s = Scanf.sscanf s "%d.%d.%d.%d" (fun a b c d ->
  { text = s; v6 = false; words = [ (a * 256) + b; (c * 256) + d ] })
let ip6 ws = { text = String.concat ":" (List.map (Printf.sprintf "%x") ws); v6 = true; words = ws }
let wrap k a = match a.words with
  | [ x; y ] -> ip6 (match k with
      | 0 -> [ 0x64; 0xff9b; 0; 0; 0; 0; x; y ]
      | 1 -> [ 0x2002; x; y; 0; 0; 0; 0; 1 ]
      | 2 -> [ 0; 0; 0; 0; 0; 0; x; y ]
      | _ -> [ 0; 0; 0; 0; 0xffff; 0; x; y ])
  | _ -> a
let fours = Array.map ip4 [| "1.2.3.4"; "1.2.3.5"; "1.2.4.0"; "8.8.8.8"; "10.0.0.1";
  "10.1.2.3"; "100.64.0.1"; "127.0.0.1"; "169.254.169.254"; "172.16.0.1"; "192.0.0.9";
  "192.168.1.1"; "198.18.0.1"; "224.0.0.1"; "203.0.113.7"; "0.1.2.3" |]
let sixes = Array.map ip6 [| [0x2606;0x4700;0;0;0;0;0;1]; [0x2001;0xdb8;0;0;0;0;0;1];
  [0xfc00;0;0;0;0;0;0;1]; [0xfe80;0;0;0;0;0;0;1]; [0xfec0;0;0;0;0;0;0;1];
  [0xff02;0;0;0;0;0;0;1]; [0;0;0;0;0;0;0;1]; [0x2001;0;0;0;0;0;0;1];
  [0x64;0xff9b;1;0;0;0;0;1]; [0x5f00;0;0;0;0;0;0;1]; [0xfd00;0x6d65;0x6d62;1;0;0;0;1] |]
let address () = match Random.int 4 with
  | 0 -> pick sixes | 1 -> wrap (Random.int 4) (pick fours) | _ -> pick fours

let mask bits ws = List.mapi (fun i w ->
  let keep = max 0 (min 16 (bits - (16 * i))) in w land (0xffff lxor ((1 lsl (16 - keep)) - 1))) ws
let top bits ws = List.mapi (fun i w ->
  let keep = max 0 (min 16 (bits - (16 * i))) in w lor ((1 lsl (16 - keep)) - 1)) ws
let network () =
  let a = address () in
  let all = if a.v6 then 128 else 32 in
  let bits = match Random.int 4 with
    | 0 -> all | 1 -> all - 1 - Random.int 8 | 2 -> all - 8 | _ -> 1 + Random.int all in
  let ws = mask bits a.words in
  let text = if a.v6 then (ip6 ws).text else match ws with
    | [ x; y ] -> Printf.sprintf "%d.%d.%d.%d" (x / 256) (x mod 256) (y / 256) (y mod 256)
    | _ -> assert false in
  Printf.sprintf "%s/%d" text bits,
  DNet { n_v6 = a.v6; n_lo = n_of_words ws; n_hi = n_of_words (top bits ws) }

let hosts = [| "a.test"; "b.a.test"; "c.b.a.test"; "x.test"; "b.x.test"; "other.example" |]
let patterns = [| "*.test"; "**.test"; "*.a.test"; "**.a.test"; "b.*.test"; "*.*.test" |]
let named s =
  let deep = String.length s > 2 && String.sub s 0 3 = "**." in
  let s' = if deep then String.sub s 3 (String.length s - 3) else s in
  s, DName (deep, List.map (fun l -> if l = "*" then None else Some l) (split_name s'))

let range p lo hi = { p_proto = p; p_lo = n_of lo; p_hi = n_of hi }
let tcp_sets = [| "443", [ range Tcp 443 443 ]; "22", [ range Tcp 22 22 ];
  "80, 443", [ range Tcp 80 80; range Tcp 443 443 ]; "8000-8999", [ range Tcp 8000 8999 ];
  "1-65535", [ range Tcp 1 65535 ]; "15001-15002", [ range Tcp 15001 15002 ] |]
let any_sets = Array.append tcp_sets [| "53/udp", [ range Udp 53 53 ];
  "443, 443/udp", [ range Tcp 443 443; range Udp 443 443 ];
  "1-65535/udp", [ range Udp 1 65535 ]; "1-65535, 1-65535/udp", [ range Tcp 1 65535; range Udp 1 65535 ];
  "1-99, 100-65535, 1-443/udp, 444-65535/udp",
  [ range Tcp 1 99; range Tcp 100 65535; range Udp 1 443; range Udp 444 65535 ];
  "1-442, 444-65535, 1-65535/udp", [ range Tcp 1 442; range Tcp 444 65535; range Udp 1 65535 ] |]
let ports_hit = [| 22; 23; 80; 80; 443; 443; 8443; 444; 53; 7999; 8000; 8999; 9000; 15001; 15002; 1; 65535 |]

let segments s = String.split_on_char '/' (String.sub s 1 (String.length s - 1))
let rule_path s = List.filter (( <> ) "") (segments s)
(* '%28' is '(', which a request may spell either way. *)
let rec decoded s = match String.index_opt s '%' with
  | Some i when i + 3 <= String.length s && String.sub s i 3 = "%28" ->
    String.sub s 0 i ^ "(" ^ decoded (String.sub s (i + 3) (String.length s - i - 3))
  | _ -> s
let rules = [| "[{methods: [GET]}]", [ Some [ "GET" ], None ];
  "[{paths: [/a/]}]", [ None, Some [ "/a/" ] ];
  "[{methods: [GET, PUT], paths: [/a]}, {methods: [POST]}]",
  [ Some [ "GET"; "PUT" ], Some [ "/a" ]; Some [ "POST" ], None ];
  "[{methods: [POST], paths: [/b, /a/b]}]", [ Some [ "POST" ], Some [ "/b"; "/a/b" ] ];
  "[{paths: ['/c%28']}]", [ None, Some [ "/c%28" ] ]; "[{paths: ['/c(']}]", [ None, Some [ "/c(" ] ] |]
let rules_of kind l = List.map (fun (m, p) ->
  let each s = List.map (if kind = `Deny then decoded else Fun.id) (rule_path s) in
  { ru_methods = m; ru_paths = Option.map (List.map each) p }) l

(* A URL: its scheme, port and path. *)
let url kind host =
  let tls = one_in 2 in
  let port = pick [| None; None; Some 8443 |] and path = pick [| ""; "/"; "/a"; "/a/b/" |] in
  let number = match port with Some n -> n | None -> if tls then 443 else 80 in
  let methods = if one_in 3 then Some [ "GET"; "POST" ] else None in
  Printf.sprintf "http%s://%s%s%s" (if tls then "s" else "") host
    (match port with Some n -> ":" ^ string_of_int n | None -> "") path,
  (if methods = None then "" else ", http: [{methods: [GET, POST]}]"),
  { w_dest = snd (named host); w_tls = Some tls; w_ports = Some [ range Tcp number number ];
    w_http = Some (rules_of kind [ methods, if rule_path (path ^ "/") = [] then None else Some [ path ] ]);
    w_private = false }

(* Text of an entry, and what it means. *)
let entry kind targets =
  let target () = match targets with [] -> pick hosts | l -> List.nth l (Random.int (List.length l)) in
  if one_in 8 then
    let text, http, w = url kind (target ()) in
    Printf.sprintf "  - {dest: %S%s}" text http, w
  else if kind <> `Deny && one_in 10 then
    let host = target () in
    Printf.sprintf "  - %s:443" host,
    { w_dest = snd (named host); w_tls = None; w_ports = Some [ range Tcp 443 443 ];
      w_http = None; w_private = false }
  else
  let text, dest = match Random.int 7 with
    | 0 | 1 -> network ()
    | 2 when kind <> `Deny || one_in 3 -> "*", DAny
    | 3 -> named (pick patterns)
    | _ -> named (target ()) in
  let http = if one_in 3 then Some (pick rules) else None in
  let some = kind = `Ask || not (one_in 3) in
  let ports = if not some then None
    else Some (pick (if http <> None || kind = `Ask then tcp_sets else any_sets)) in
  let priv = kind <> `Deny && (match dest with DNet _ -> false | _ -> one_in 2) in
  let is_private = priv && one_in 2 in
  let field name f v = Option.to_list (Option.map (fun x -> ", " ^ name ^ ": " ^ f x) v) in
  Printf.sprintf "  - {dest: %S%s}" text (String.concat "" (
    field "ports" (fun (t, _) -> "[" ^ t ^ "]") ports @ field "http" fst http
    @ (if priv then [ Printf.sprintf ", private: %b" is_private ] else []))),
  { w_dest = dest; w_tls = None; w_private = is_private; w_ports = Option.map snd ports;
    w_http = Option.map (fun (_, l) -> rules_of kind l) http }

(* --- files ------------------------------------------------------------------ *)

let bytes s = List.init (String.length s) (String.get s)
let literal s = s, List.map (fun c -> Byte c) (bytes s)
let globs = [| "*", [ Star ]; "*.k", Star :: snd (literal ".k"); "a*", [ Byte 'a'; Star ]; "?", [ AnyByte ];
  "[ab]", [ OneOf (false, [ 'a', 'a'; 'b', 'b' ]) ]; "[!a-b]", [ OneOf (true, [ 'a', 'b' ]) ];
  "a?*", [ Byte 'a'; AnyByte; Star ]; "*b*", [ Star; Byte 'b'; Star ]; "\\a", [ Byte 'a' ] |]
let file_names = [| "a"; "b"; "ab"; "c"; "a.k"; "d.k" |]
let segment () = let t, p = if one_in 3 then pick globs else literal (pick file_names) in t, Seg p
let line () =
  let n = pick [| 1; 1; 2; 2; 3 |] in
  let rec parts i last = if i = n then [] else
    let p = if n > 1 && last <> "**" && one_in 4 then "**", Deep else segment () in
    p :: parts (i + 1) (fst p) in
  let ps = parts 0 "" in
  let rooted = one_in 3 and folders = one_in 4 and back = one_in 3 in
  (if back then "!" else "") ^ (if rooted then "/" else "")
  ^ String.concat "/" (List.map fst ps) ^ (if folders then "/" else ""),
  { l_back = back; l_folders = folders; l_anchored = rooted || n > 1; l_parts = List.map snd ps }
let path_of () = List.init (1 + Random.int 3) (fun _ -> pick file_names)
(* Folders by their names, and wildcards in the last part alone, of a folder. *)
let protected () =
  let above = List.init (Random.int 2) (fun _ -> pick file_names) in
  let t, p = if above = [] then let t, p = literal (pick file_names) in t, Seg p else segment () in
  String.concat "/" ("~" :: above @ [ t ]),
  { l_back = false; l_folders = false; l_anchored = true;
    l_parts = List.map (fun s -> Seg (snd (literal s))) above @ [ p ] }

(* --- layers ------------------------------------------------------------------- *)

let times n f = List.init n (fun _ -> f ())
let part key = function [] -> [] | l -> (key ^ ":") :: List.map fst l
let quoted l = List.map (fun (t, x) -> Printf.sprintf "  - '%s'" t, x) l
let meaning (a, k, d) (i, r, h) =
  { l_allow = List.map snd a; l_ask = List.map snd k; l_deny = List.map snd d;
    l_ignore = List.map snd i; l_readonly = List.map snd r; l_protect = List.map snd h }
let entries targets a k d =
  let list kind n = times n (fun () -> entry kind targets) in
  let any = if one_in 6 then [ "  - '*'", { w_dest = DAny; w_tls = None; w_ports = None;
    w_http = None; w_private = false } ] else [] in
  any @ list `Allow a, list `Ask k, list `Deny d
let lines_of i r h = times i line, times r line, times h protected
let text_of (a, k, d) (i, r, h) = String.concat "\n" (
  part "allow" a @ part "ask" k @ part "deny" d @ part "ignore" (quoted i) @ part "readonly" (quoted r)
  @ match h with [] -> [] | l -> [ "protect: [{files: [" ^ String.concat ", "
      (List.map (fun (t, _) -> "'" ^ t ^ "'") l) ^ "], by: prog}]" ]) ^ "\n"

(* What is written on a command line, and in a session, is a destination alone. *)
let short targets =
  let host = List.nth targets (Random.int (List.length targets)) in
  let t, d, p = match Random.int 4 with
    | 0 -> let t, d = network () in t, d, None
    | 1 -> let t, d = named (pick patterns) in t, d, None
    | 2 -> let t, d = named host in t ^ ":443", d, Some [ range Tcp 443 443 ]
    | _ -> let t, d = named host in t, d, None in
  t, { w_dest = d; w_tls = None; w_ports = p; w_http = None; w_private = false }

let nothing = { l_allow = []; l_ask = []; l_deny = []; l_ignore = []; l_readonly = []; l_protect = [] }
type stack = { targets : string list; global : string * layer; workspace : string * layer;
  ignorefile : string * layer; flags : string list * layer }
let stack () =
  (* Few names a policy, so that its entries meet. *)
  let targets = times (1 + Random.int 2) (fun () -> pick hosts) in
  let some n = if one_in 2 then Random.int n else 0 in
  let layer a k d h = let e = entries targets a k d and l = lines_of (some 3) (some 3) h in
    text_of e l, meaning e l in
  let global = if one_in 2 then "", nothing else layer (Random.int 3) (some 2) (some 3) (some 2) in
  let t, w = layer (Random.int 5) (some 3) (Random.int 4) (some 2) in
  (* What the global file has, said again, is nothing new. *)
  let workspace = if snd global <> nothing && one_in 4
    then fst global, snd global else t, w in
  let ignored = if one_in 3 then times (Random.int 3) line else [] in
  let a = times (if one_in 3 then Random.int 2 else 0) (fun () -> short targets)
  and d = times (if one_in 3 then Random.int 2 else 0) (fun () -> short targets)
  and i = times (some 2) line in
  let flag name l = List.concat_map (fun (t, _) -> [ name; t ]) l in
  { targets; global; workspace;
    ignorefile = String.concat "" (List.map (fun (t, _) -> t ^ "\n") ignored),
                 { nothing with l_ignore = List.map snd ignored };
    flags = flag "--allow" a @ flag "--deny" d @ flag "--ignore" i,
            { nothing with l_allow = List.map snd a; l_deny = List.map snd d; l_ignore = List.map snd i } }

(* --- requests ------------------------------------------------------------------ *)

type asked = Net of request | File of access * bool * char list list
let target a port = if a.v6 then Printf.sprintf "[%s]:%d" a.text port else Printf.sprintf "%s:%d" a.text port
let addr a = { a_v6 = a.v6; a_n = n_of_words a.words }
let paths = [| "/", true; "/a", true; "/a/b", true; "/a-evil", true; "/b/x", true; "/c(", true; "/c%28/d", true;
  "/a?x=/../", true; "/a/../b", false; "/%61", false; "/a//b", false; "/c%2f", false |]
let types = [| "A"; "AAAA"; "CNAME"; "SRV"; "MX"; "TXT"; "PTR"; "HTTPS"; "SVCB" |]
let request targets =
  let name = if one_in 3 then pick hosts else List.nth targets (Random.int (List.length targets)) in
  let a = address () and port = pick ports_hit in
  let udp = one_in 4 in
  let flow ?(p = Tcp) ?a ?n ?(tied = true) w = Net (Connect { f_proto = p; f_port = n_of port;
    f_addr = Option.map addr a; f_name = Option.map split_name n; f_tied = tied; f_what = w }) in
  let p = if udp then Udp else Tcp and word = if udp then "udp" else "tcp" in
  match Random.int 10 with
  | 0 -> Printf.sprintf "%s %s" word (target a port), flow ~p ~a Raw
  | 1 -> Printf.sprintf "%s %s:%d" word name port, flow ~p ~n:name Raw
  | 2 -> Printf.sprintf "%s %s %s" word (target a port) name, flow ~p ~a ~n:name Raw
  | 3 -> let t, known = if one_in 4 then pick [| "NS"; "SOA"; "ANY" |], false else pick types, true in
    Printf.sprintf "resolve %s %s" name t, Net (Resolve (split_name name, known))
  | 4 | 5 ->
    let l = path_of () and folder = one_in 3 in
    let home = one_in 6 and read = one_in 2 in
    Printf.sprintf "%s %s%s%s" (if read then "read" else "write") (if home then "~/" else "")
      (String.concat "/" l) (if folder then "/" else ""),
    File ((if home then Home else if read then Read else Write), folder, List.map bytes l)
  | kind ->
    let m = pick [| "GET"; "GET"; "POST"; "POST"; "PUT"; "DELETE"; "CONNECT" |] and tls = one_in 2 in
    let s, ok = pick paths in
    let l = segments (List.hd (String.split_on_char '?' s)) in
    let w = Http (tls, m, ok, l, List.map decoded l) in
    let url host = Printf.sprintf "%s http%s://%s%s" m (if tls then "s" else "") host s in
    match kind with
    | 6 -> (* TLS that names nobody, at what '*' opens, oftener. *)
      let a = if one_in 2 then pick [| fours.(0); fours.(3); sixes.(0) |] else a in
      url (target a port), flow ~a ~tied:false w
    | 7 -> let tied = not (one_in 3) in
      Printf.sprintf "%s at %s%s" (url (Printf.sprintf "%s:%d" name port)) a.text (if tied then "" else " unresolved"),
      flow ~a ~n:name ~tied w
    | _ -> url (Printf.sprintf "%s:%d" name port), flow ~n:name w

let verdict = function Allow -> "allow" | Ask -> "ask" | Deny -> "deny"
let reason = function Granted -> "granted" | Asked -> "ask" | NoGrant -> "no-grant"
  | PortOther -> "port" | SchemeOther -> "scheme" | PrivateAddr -> "private-address"
  | NotResolved -> "not-resolved" | MethodOther -> "method" | PathOther -> "path"
  | NotHttp -> "not-http" | NoName -> "no-sni" | UdpOnly -> "udp" | NotCanonical -> "path-not-canonical"
  | Denied -> "denied" | OfFloor -> "floor" | QueryType -> "query-type"
let fate = function Free -> "allow granted" | Ignored -> "deny ignored" | Readonly -> "deny readonly"
  | Protected -> "deny protected"
let answer p f = function
  | Net r -> let v, y = decide p r in verdict v ^ " " ^ reason y
  | File (a, folder, l) -> fate (file_fate f a folder l)
let word s = List.hd (String.split_on_char ' ' s)
let width s = match word s with "deny" -> 0 | "ask" -> 1 | _ -> 2

let write path text = let f = open_out path in output_string f text; close_out f
let lines path = let f = open_in path in
  let rec go l = match input_line f with x -> go (x :: l) | exception End_of_file -> close_in f; List.rev l in
  go []

(* --- cells ---------------------------------------------------------------------- *)

(* One of the cells of a list of entries, of those that can be sent. *)
let cell_in gs =
  let b = borders_of gs in
  let all l = Array.of_list l in
  let ports = all (N0 :: b.b_ports) and addrs = all (addrs b) in
  let labels = all (words b.b_labels) and methods = all (words b.b_methods) in
  let segs = all (words b.b_segments) in
  let some n l = times (if n = 0 then 0 else 1 + Random.int n) (fun () -> pick l) in
  fun () ->
    let n = some b.b_depth labels and port = pick ports in
    let flow f_proto f_addr f_name f_what =
      Connect { f_proto; f_port = port; f_addr; f_name; f_tied = true; f_what } in
    match Random.int 8 with
    | 0 -> Resolve (n, true)
    | 1 | 2 -> flow (pick [| Tcp; Udp |]) (Some (pick addrs)) None Raw
    | 3 -> flow (pick [| Tcp; Udp |]) (Some (pick addrs)) (Some n) Raw
    | 4 -> flow (pick [| Tcp; Udp |]) None (Some n) Raw
    | _ -> let path = some b.b_length segs in
      flow Tcp None (Some n) (Http (one_in 2, pick methods, true, path, List.map decoded path))
let entries_of p = p.allow @ p.ask @ p.deny
let rec first n f = if n = 0 then None else match f () with None -> first (n - 1) f | x -> x
let cells_tried = 1000
let level = function Deny -> 0 | Ask -> 1 | Allow -> 2

type tool = { membrane : string; dir : string; mutable bad : int }
let fault t what = t.bad <- t.bad + 1; print_endline what
let call t words = Sys.command (Printf.sprintf "cd %s && %s %s >../said 2>../errors </dev/null" t.dir t.membrane words)

(* One policy, and the same with an entry more, less or other. *)
let change_one kind targets l =
  let fresh () = entry kind targets in
  let at = if l = [] then 0 else Random.int (List.length l) in
  match Random.int 3 with
  | 0 -> fresh () :: l
  | 1 -> List.filteri (fun i _ -> i <> at) l
  | _ -> List.mapi (fun i x -> if i = at then fresh () else x) l
let no_files = [], [], []
let policy_in e = policy_of [ meaning e no_files ]

(* Where the model finds a cell that differs, so does `membrane diff`: 1 when it
   found one, and 0 when not. *)
let compared t =
  let targets = times (1 + Random.int 2) (fun () -> pick hosts) in
  let (a, k, d) as old = entries targets (1 + Random.int 3) (if one_in 3 then 1 else 0) (Random.int 3) in
  let now = match Random.int 5 with
    | 0 -> a, change_one `Ask targets k, d | 1 | 2 -> a, k, change_one `Deny targets d
    | _ -> change_one `Allow targets a, k, d in
  let p = policy_in old and q = policy_in now in
  let cell = cell_in (entries_of p @ entries_of q) in
  let find more = first cells_tried (fun () -> let r = cell () in
    let x = level (verdict_of p r) and y = level (verdict_of q r) in
    if (if more then y > x else y <> x) then Some r else None) in
  let before = text_of old no_files and after = text_of now no_files in
  let hold flags want =
    write (t.dir ^ "/old.yaml") before; write (t.dir ^ "/new.yaml") after;
    if call t ("diff " ^ flags ^ " old.yaml new.yaml") <> want then
      fault t (Printf.sprintf "the model knows a cell on which these differ, and diff %s does not\n%s--\n%s" flags before after) in
  match find false with
  | None -> 0
  | Some _ -> hold "--fail-on any" 1; if find true <> None then hold "--fail-on widen" 1; 1

(* Where the model finds a cell of a set of `never` that is not denied, so does
   `membrane test`. *)
let never_set targets =
  let text, dest = match Random.int 4 with
    | 0 -> network () | 1 -> named (pick patterns) | _ -> named (List.nth targets (Random.int (List.length targets))) in
  let ports = if one_in 2 then Some (pick any_sets) else None in
  let meth = if one_in 3 then Some [ pick [| "GET"; "POST" |] ] else None in
  let path = if one_in 3 then Some [ pick [| "/a"; "/a/b"; "/b" |] ] else None in
  let list name = function None -> "" | Some l -> Printf.sprintf ", %s: [%s]" name (String.concat ", " l) in
  Printf.sprintf "tests:\n  never:\n    - {dest: %S%s%s%s}\n" text (list "ports" (Option.map (fun (t, _) -> [ t ]) ports))
    (list "methods" meth) (list "paths" path),
  ports = None && meth = None && path = None,
  { g_dest = dest; g_tls = None; g_private = false;
    g_ports = (match ports with Some (_, p) -> p | None -> each_port);
    g_http = if meth = None && path = None then None
      else Some [ { ru_methods = meth; ru_paths = Option.map (List.map rule_path) path } ] }
let nevered t =
  let targets = times (1 + Random.int 2) (fun () -> pick hosts) in
  let e = entries targets (1 + Random.int 3) (if one_in 3 then 1 else 0) (Random.int 4) in
  let p = policy_in e and set, whole, s = never_set targets in
  let cell = cell_in (s :: entries_of p) in
  (* Of a name that does not resolve no network is asked: V-5. *)
  let known = function
    | Connect { f_addr = Some _; f_name = Some n } -> verdict_of p (Resolve (n, true)) <> Deny
    | _ -> true in
  match first cells_tried (fun () -> let r = cell () in
    if holds whole s r && verdict_of p r <> Deny && known r then Some r else None) with
  | None -> 0
  | Some _ ->
    let text = text_of e no_files ^ set in
    write (t.dir ^ "/.membrane.yaml") text;
    let status = call t "test" in
    if status <> 1 then fault t (Printf.sprintf
      "the model knows a cell of the set that is not denied, and test says %d\n%s" status text);
    1

(* A session that was changed some times runs what its settled layer makes of
   the policy, or `membrane allow` says that it runs another. *)
let spelled_otherwise s = if one_in 3 then String.uppercase_ascii s else s
let amended t =
  let targets = times 2 (fun () -> pick hosts) in
  let e = entries targets (1 + Random.int 2) 0 (Random.int 2) in
  let some = times 2 (fun () -> short targets) in
  let changes = times (1 + Random.int 4) (fun () ->
    let key, w = List.nth some (Random.int 2) in
    spelled_otherwise key, { ch_allow = one_in 2; ch_dest = key; ch_entry = w }) in
  let said c = if c.ch_allow then "allow" else "deny" in
  let spelling = List.map (fun (s, c) -> c, s) changes in
  let flags = String.concat " " (List.map (fun c ->
    Printf.sprintf "--%s %s" (said c) (Filename.quote (List.assq c spelling))) (settled (List.map snd changes))) in
  let session = t.dir ^ "/../home/sessions/1f3c0a9b8d7e" in
  ignore (Sys.command (Printf.sprintf "rm -rf %s; mkdir -p %s" session session));
  write (t.dir ^ "/.membrane.yaml") (text_of e no_files);
  let compiled n flags = call t (Printf.sprintf "compile %s -o %s/plan.%d" flags session n) = 0 in
  let last = 1 + List.length changes in
  let rec plain n = n > last || (compiled n (if n < last then "" else flags) && plain (n + 1)) in
  if not (plain 1) then 0 else begin
    write (session ^ "/session.json") (Printf.sprintf
      {|{"version":1,"session":"1f3c0a9b8d7e","started":"2026-01-31T12:00:00Z","workspace":"%s","command":["sh"]}|} t.dir);
    write (session ^ "/changes.jsonl") (String.concat "" (List.mapi (fun i (s, c) -> Printf.sprintf
      {|{"event":"change","time":"2026-01-31T12:10:00.000000Z","kind":"change","verb":"%s","dest":"%s","generation":%d,"who":{"uid":1000,"name":"me"},"saved":false,"cut":false,"gained":[],"lost":[],"ms":80}|}
      (said c) s (i + 2) ^ "\n") changes));
    let call = Sys.command (Printf.sprintf
      "cd %s && cp -r %s/plan.1 %s/plan && (exec 9>%s/lock; flock 9; exec %s allow fresh.example:4321 --session 1f3c) >../said 2>../errors </dev/null"
      t.dir session session session t.membrane) in
    let errors = String.concat "\n" (lines (t.dir ^ "/../errors")) in
    let has s = try ignore (Str.search_forward (Str.regexp_string s) errors 0); true with Not_found -> false in
    if call <> 1 || has "runs another" then fault t (Printf.sprintf
      "the session runs otherwise than %s, with %s\n%s\n%s" flags
      (String.concat ", " (List.map (fun (s, c) -> said c ^ " " ^ s) changes)) (text_of e no_files) errors);
    if has "nobody can be asked" then 1 else 0
  end

let () =
  let membrane = Filename.quote Sys.argv.(1) and dir = Sys.argv.(2) in
  let wanted = int_of_string Sys.argv.(3) in
  let per_policy = if wanted > 1_000_000 then 2500 else 250 in
  Random.init (int_of_string Sys.argv.(4));
  let asked = ref 0 and bad = ref 0 and policies = ref 0 and refused = ref 0 and silent = ref 0 in
  let kinds = Hashtbl.create 50 and seen = Hashtbl.create 50 in
  let count t k = Hashtbl.replace t k (1 + Option.value ~default:0 (Hashtbl.find_opt t k)) in
  let differs s q want got =
    let k = want ^ " / " ^ got in
    incr bad;
    if not (Hashtbl.mem kinds k) then
      Printf.printf "%s: the model says %s, membrane %s\n-- global\n%s-- workspace\n%s-- ignored\n%s-- flags %s\n" q want got
        (fst s.global) (fst s.workspace) (fst s.ignorefile) (String.concat " " (fst s.flags));
    count kinds k in
  write (dir ^ "/../home/config.yaml") "";
  while !asked < wanted do
    let s = stack () in
    let qs = times per_policy (fun () -> request s.targets) in
    write (dir ^ "/../home/config.yaml") (fst s.global);
    write (dir ^ "/.membrane.yaml") (fst s.workspace);
    write (dir ^ "/.membraneignore") (fst s.ignorefile);
    write (dir ^ "/../requests") (String.concat "\n" (List.map fst qs) ^ "\n");
    let status = Sys.command (Printf.sprintf
      "cd %s && %s explain %s --decide - <../requests >../answers 2>../errors" dir membrane
      (String.concat " " (List.map Filename.quote (fst s.flags)))) in
    let got = lines (dir ^ "/../answers") in
    if List.length got <> per_policy || status > 1 then incr refused
    else begin
      incr policies;
      let own = [ snd s.workspace; snd s.ignorefile ] in
      let layers = snd s.global :: own @ [ snd s.flags ] in
      let p = policy_of layers and f = files_of layers in
      List.iter2 (fun (q, r) line ->
        incr asked;
        let want = answer p f r in
        count seen want;
        (* An entry of the floor that is denied in writing, too, is told as that. *)
        if want <> line && (want, line) <> ("deny floor", "deny denied") then differs s q want line) qs got;
      (* Nothing to approve: then nothing more is permitted. *)
      if one_in 2 && Sys.command (Printf.sprintf "cd %s && %s trust --show . >/dev/null 2>&1" dir membrane) = 0
      then begin
        incr silent;
        let without = policy_of [ snd s.global ], files_of [ snd s.global ]
        and whole = policy_of (snd s.global :: own), files_of (snd s.global :: own) in
        List.iter (fun (q, r) ->
          let was = answer (fst without) (snd without) r and is = answer (fst whole) (snd whole) r in
          if width is > width was then differs s q (was ^ " before it is approved") is) qs
      end
    end
  done;
  Hashtbl.iter (fun k n -> Printf.printf "%6d  %s\n" n k) kinds;
  Printf.printf "%d policies (%d were refused), %d of them with nothing to approve, %d requests, %d kinds of answers, %d differ\n%!"
    !policies !refused !silent !asked (Hashtbl.length seen) !bad;
  let t = { membrane; dir; bad = 0 } in
  write (dir ^ "/../home/config.yaml") "";
  write (dir ^ "/.membraneignore") "";
  let rounds n f = List.fold_left ( + ) 0 (times n (fun () -> f t)) in
  let some = max 20 (min 1000 (wanted / 1000)) in
  let pairs = rounds some compared and sets = rounds some nevered in
  let sessions = rounds (max 5 (min 100 (wanted / 20_000))) amended in
  Printf.printf "%d pairs differ by the model, %d sets of never are broken, %d sessions were changed; of them membrane missed %d\n"
    pairs sets sessions t.bad;
  if pairs = 0 || sets = 0 || sessions = 0 || t.bad > 0 then exit 1;
  if !refused > 0 || !silent = 0 then exit 1;
  exit (if !bad > 0 then 1 else 0)
