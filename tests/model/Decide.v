(* The one decision function: doc/semantics.md, sections 2, 3, 4 and 6. *)
From Coq Require Import List Bool NArith String.
From Model Require Import Base.
Import ListNotations.
Open Scope N_scope.

Inductive proto := Tcp | Udp.
Definition proto_eqb (a b : proto) : bool :=
  match a, b with Tcp, Tcp | Udp, Udp => true | _, _ => false end.

(* An address is of IPv4 (false) or of IPv6 (true), and a number. *)
Record addr := Addr { a_v6 : bool; a_n : N }.
Record net := Net { n_v6 : bool; n_lo : N; n_hi : N }.
Definition net_has (n : net) (a : addr) : bool :=
  Bool.eqb (n_v6 n) (a_v6 a) && inb (n_lo n) (n_hi n) (a_n a).
(* Is n in m, and less than all of it? *)
Definition net_inside (n m : net) : bool :=
  Bool.eqb (n_v6 n) (n_v6 m) && (n_lo m <=? n_lo n) && (n_hi n <=? n_hi m) &&
  negb ((n_lo m =? n_lo n) && (n_hi m =? n_hi n)).

Record prange := Ports { p_proto : proto; p_lo : N; p_hi : N }.
Inductive dest :=
| DAny
| DName (deep : bool) (labels : list (option string)) (* from the right *)
| DNet (n : net).

(* Absent lists leave nothing out. *)
Record rule := Rule { ru_methods : option (list string);
                      ru_paths : option (list (list string)) }.
Record grant := Grant {
  g_dest : dest;
  g_tls : option bool;            (* of a URL: its scheme *)
  g_ports : list prange;
  g_http : option (list rule);
  g_private : bool }.

Record policy := Policy { allow : list grant; ask : list grant; deny : list grant }.

Inductive what :=
| Raw                              (* bytes of whatever protocol *)
| Http (tls : bool) (meth : string) (canonical : bool) (path : list string)
       (decoded : list string).
Record flow := Flow {
  f_proto : proto; f_port : N;
  f_addr : option addr;            (* None: as if the name led to a public one *)
  f_name : option name;
  f_tied : bool;                   (* the session resolved the name to it *)
  f_what : what }.
Inductive request := Connect (f : flow) | Resolve (n : name) (answered : bool).

Inductive reason := Granted | Asked | NoGrant | PortOther | SchemeOther | PrivateAddr
  | NotResolved | NoName | MethodOther | PathOther | NotHttp | UdpOnly | NotCanonical
  | Denied | OfFloor | QueryType.

(* --- scopes ---------------------------------------------------------------- *)

(* base/bits of IPv4, as a range. *)
Definition range (v6 : bool) (base bits : N) : net :=
  let size := 2 ^ ((if v6 then 128 else 32) - bits) in Net v6 base (base + size - 1).
Definition ip4 (a b c d : N) : N := ((a * 256 + b) * 256 + c) * 256 + d.
Definition ip6 (a b c d e f g h : N) : N :=
  ((((((a * 65536 + b) * 65536 + c) * 65536 + d) * 65536 + e) * 65536 + f) * 65536 + g)
  * 65536 + h.

(* What an address of IPv4 is, each form that wraps it is. *)
Definition wrapped (e : N * N) : list net :=
  let '(base, bits) := e in
  [ range false base bits;
    range true (ip6 100 65435 0 0 0 0 0 0 + base) (96 + bits);          (* NAT64 *)
    range true (ip6 8194 0 0 0 0 0 0 0 + base * 2 ^ 80) (16 + bits);    (* 6to4 *)
    range true base (96 + bits);                                        (* ::/96 *)
    range true (ip6 0 0 0 0 65535 0 0 0 + base) (96 + bits) ].          (* ::ffff:0:0:0/96 *)

Definition private_nets : list net := Eval vm_compute in
  flat_map wrapped [ (ip4 10 0 0 0, 8); (ip4 172 16 0 0, 12); (ip4 192 168 0 0, 16);
    (ip4 100 64 0 0, 10); (ip4 192 0 0 0, 24); (ip4 198 18 0 0, 15) ]
  ++ [ range true (ip6 64512 0 0 0 0 0 0 0) 7; range true (ip6 65216 0 0 0 0 0 0 0) 10;
       range true (ip6 8193 2 0 0 0 0 0 0) 48; range true (ip6 24320 0 0 0 0 0 0 0) 16 ].
Definition floor_nets : list net := Eval vm_compute in
  flat_map wrapped [ (0, 8); (ip4 127 0 0 0, 8); (ip4 169 254 0 0, 16);
    (ip4 192 0 0 0, 29); (ip4 224 0 0 0, 4); (ip4 240 0 0 0, 4) ]
  ++ [ range true (ip6 64768 28005 28002 0 0 0 0 0) 64;                 (* the gate's link *)
       range true 0 128; range true 1 128;
       range true (ip6 0 0 0 0 0 65535 0 0) 96;                         (* ::ffff:0:0/96 *)
       range true (ip6 65152 0 0 0 0 0 0 0) 10; range true (ip6 65280 0 0 0 0 0 0 0) 8;
       range true (ip6 8193 0 0 0 0 0 0 0) 32;                          (* Teredo *)
       range true (ip6 100 65435 1 0 0 0 0 0) 48 ].

Definition in_floor (a : addr) : bool := existsb (fun e => net_has e a) floor_nets.
Definition in_private (a : addr) : bool := existsb (fun e => net_has e a) private_nets.
Definition public (a : option addr) : bool :=
  match a with None => true | Some a => negb (in_floor a) && negb (in_private a) end.
Definition floored (a : option addr) : bool :=
  match a with None => false | Some a => in_floor a end.

(* --- one grant or denial ---------------------------------------------------- *)

Definition has_port (g : grant) (pr : proto) (x : N) : bool :=
  existsb (fun r => proto_eqb (p_proto r) pr && inb (p_lo r) (p_hi r) x) (g_ports g).
Definition has_proto (g : grant) (pr : proto) : bool :=
  existsb (fun r => proto_eqb (p_proto r) pr) (g_ports g).

Definition is_http (g : grant) : bool := match g_http g with Some _ => true | None => false end.

(* A network of the floor is opened by what is more specific than each of its
   entries there, and has no rules of requests. *)
Definition opens_floor (g : grant) (a : addr) : bool :=
  match g_dest g with
  | DNet n => negb (is_http g) &&
      forallb (fun e => negb (net_has e a) || net_inside n e) floor_nets
  | _ => false
  end.

Definition is_raw (f : flow) : bool := match f_what f with Raw => true | _ => false end.
Definition is_tls (f : flow) : bool := match f_what f with Http tls _ _ _ _ => tls | Raw => false end.
Definition has_name (f : flow) : bool := match f_name f with Some _ => true | None => false end.

(* Does the grant, by its destination alone, speak of the flow's? *)
Definition speaks (g : grant) (f : flow) : bool :=
  match g_dest g with
  | DAny => has_name f || negb (is_raw f) || public (f_addr f)
  | DName deep ls => match f_name f with Some n => name_match deep ls n | None => false end
  | DNet n => match f_addr f with
              | Some a => net_has n a && (negb (in_floor a) || opens_floor g a)
              | None => false end
  end.
(* A denial says nothing less in the floor, and '*' in it is every address. *)
Definition denial_speaks (d : grant) (f : flow) : bool :=
  match g_dest d with
  | DAny => true
  | DName _ _ => speaks d f
  | DNet n => match f_addr f with Some a => net_has n a | None => false end
  end.

Definition scheme_ok (g : grant) (f : flow) : bool :=
  match g_tls g, f_what f with
  | Some t, Http tls _ _ _ _ => Bool.eqb t tls
  | _, _ => true
  end.

Definition method_ok (r : rule) (m : string) : bool :=
  match ru_methods r with None => true | Some l => existsb (String.eqb m) l end.
Definition path_ok (r : rule) (s : list string) : bool :=
  match ru_paths r with None => true | Some l => existsb (fun p => below p s) l end.

Definition some_method (g : grant) (m : string) : bool :=
  match g_http g with None => true | Some l => existsb (fun r => method_ok r m) l end.
Definition some_rule (g : grant) (m : string) (s : list string) : bool :=
  match g_http g with
  | None => true
  | Some l => existsb (fun r => method_ok r m && path_ok r s) l
  end.
Definition has_paths (g : grant) : bool :=
  match g_http g with
  | None => false
  | Some l => existsb (fun r => match ru_paths r with Some _ => true | None => false end) l
  end.

(* Of a denial with rules, a request whose path, decoded, is below one of its. *)
Definition denies (d : grant) (f : flow) : bool :=
  denial_speaks d f && has_port d (f_proto f) (f_port f) && scheme_ok d f &&
  match f_what f with
  | Raw => negb (is_http d)
  | Http _ m _ _ dec => some_rule d m dec
  end.

(* Of the denials, those that a request without one spelling may evade. *)
Definition aims (denial : bool) (g : grant) (f : flow) : bool :=
  (if denial then denial_speaks g f else speaks g f) &&
  has_port g (f_proto f) (f_port f) && scheme_ok g f.

Definition by_net (g : grant) : bool := match g_dest g with DNet _ => true | _ => false end.
Definition is_any (g : grant) : bool := match g_dest g with DAny => true | _ => false end.

(* A network without rules passes as packets. *)
Definition opaque (g : grant) : bool := by_net g && negb (is_http g).

(* How near a grant comes to the flow, but for its rules of requests. *)
Definition arrival (g : grant) (f : flow) : reason :=
  if negb (speaks g f) || (negb (is_raw f) && (negb (has_proto g Tcp) ||
       (opaque g && negb (has_port g (f_proto f) (f_port f))))) then NoGrant
  else if negb (has_port g (f_proto f) (f_port f)) then
    (match f_proto f with Udp => UdpOnly | Tcp => PortOther end)
  else if negb (scheme_ok g f) then SchemeOther
  else if by_net g then Granted
  else if negb (public (f_addr f)) &&
          negb (g_private g && (negb (floored (f_addr f)) || negb (is_raw f))) then PrivateAddr
  else if (negb (f_tied f) || floored (f_addr f)) && negb (is_any g && public (f_addr f))
    then NotResolved
  else Granted.
Definition nearness (g : grant) (f : flow) : reason :=
  match arrival g f with
  | Granted => match f_what f with
    | Raw => if is_http g then NotHttp else Granted
    | Http _ m _ s _ =>
        if negb (some_method g m) then MethodOther
        else if negb (some_rule g m s) then PathOther else Granted
    end
  | r => r
  end.

Definition is_granted (r : reason) : bool := match r with Granted => true | _ => false end.
Definition permits (g : grant) (f : flow) : bool := is_granted (nearness g f).

(* --- a policy ---------------------------------------------------------------- *)

(* Each port of both protocols, ranges taken together: it is enough to look at
   the first and at the ends of its ranges. *)
Definition all_of (g : grant) (pr : proto) : bool :=
  forallb (fun x => negb (inb 1 65535 x) || has_port g pr x)
          (1 :: map (fun r => p_hi r + 1) (g_ports g)).
Definition all_ports (g : grant) : bool := all_of g Tcp && all_of g Udp.

Definition names (g : grant) (n : name) : bool :=
  match g_dest g with DAny => true | DName deep ls => name_match deep ls n | DNet _ => false end.
Definition denied_whole (d : grant) (n : name) : bool :=
  match g_dest d with
  | DName deep ls => name_match deep ls n && negb (is_http d) && all_ports d
  | _ => false
  end.

(* At what a network grants without rules nothing is read for a grant's sake. *)
Definition covered (p : policy) (f : flow) : bool :=
  existsb (fun g => opaque g && speaks g f && has_port g (f_proto f) (f_port f)) (allow p).

(* A path that could be spelled otherwise, where paths decide; of what a grant
   says of paths, in TLS, only where something has it read. *)
Definition opened_tls (p : policy) (f : flow) : bool :=
  existsb (fun d => aims true d f && is_http d) (deny p) ||
  negb (covered p f) && existsb (fun g => is_http g && is_granted (arrival g f)) (allow p).
Definition crooked (p : policy) (f : flow) : bool :=
  match f_what f with
  | Http _ _ false _ _ =>
      negb (covered p f) && (negb (is_tls f) || opened_tls p f) &&
      existsb (fun g => aims false g f && has_paths g) (allow p) ||
      existsb (fun d => aims true d f && has_paths d) (deny p)
  | _ => false
  end.

(* TLS to an address states no name: it passes where a network covers that, and
   no request there, to whatever name, is denied; and where '*' does and the
   policy has nothing to look for. *)
Definition of_tls (g : grant) : bool := match g_tls g with Some false => false | _ => true end.
Definition looks (d : grant) : bool :=
  has_proto d Tcp && (is_http d || match g_dest d with DName _ _ => true | _ => false end).
Definition nothing_to_see (p : policy) : bool :=
  negb (existsb looks (deny p)) &&
  negb (existsb (fun g => has_proto g Tcp && is_http g) (allow p)).
Definition nameless_passes (p : policy) (f : flow) : bool :=
  covered p f && negb (existsb (fun d => is_http d && of_tls d && has_port d (f_proto f) (f_port f) &&
                                         negb (match g_dest d with DName _ _ => true | _ => false end) &&
                                         denial_speaks d f) (deny p)) ||
  nothing_to_see p && existsb (fun g => is_any g && negb (is_http g) && permits g f) (allow p).
Definition nameless (f : flow) : bool := is_tls f && negb (has_name f).

(* CONNECT is refused wherever requests are read: in clear not at a network
   without a look inside, nor under '*' where nothing is looked for. *)
Definition read_in_clear (p : policy) (f : flow) : bool :=
  negb (covered p f &&
        negb (existsb (fun d => looks d && has_port d (f_proto f) (f_port f)) (deny p))) &&
  negb (nothing_to_see p && public (f_addr f) &&
        existsb (fun g => is_any g && negb (is_http g) && has_port g (f_proto f) (f_port f)) (allow p)).
Definition is_connect (f : flow) : bool :=
  match f_what f with Http _ m _ _ _ => String.eqb "CONNECT" m | Raw => false end.
Definition tunnels (p : policy) (f : flow) : bool :=
  is_connect f && (if is_tls f then negb (nameless f) && opened_tls p f else read_in_clear p f).

Definition weight (r : reason) : N :=
  match r with
  | NoGrant => 0 | UdpOnly => 1 | PortOther => 2 | SchemeOther => 3 | PrivateAddr => 4
  | NotResolved => 5 | MethodOther => 6 | PathOther => 7 | NotHttp => 8 | _ => 9
  end.
Fixpoint nearest (near : grant -> reason) (gs : list grant) : reason :=
  match gs with
  | [] => NoGrant
  | g :: gs => let r := near g in let s := nearest near gs in
               if weight s <=? weight r then r else s
  end.

(* The floor's denial stands, but where a grant opens it. *)
Definition opened (gs : list grant) (f : flow) : bool :=
  match f_addr f with
  | None => true
  | Some a => negb (in_floor a) || existsb (fun g => speaks g f && opens_floor g a) gs
  end.
Definition denied (p : policy) (f : flow) : bool := existsb (fun d => denies d f) (deny p).

Definition granted (p : policy) (r : request) : bool :=
  match r with
  | Connect f => opened (allow p) f && negb (denied p f) && negb (crooked p f) &&
                 (negb (nameless f) || nameless_passes p f) && negb (tunnels p f) &&
                 existsb (fun g => permits g f) (allow p)
  | Resolve n answered => negb (existsb (fun d => denied_whole d n) (deny p)) &&
                          answered && existsb (fun g => names g n) (allow p)
  end.
Definition with_entry (p : policy) (e : grant) : policy := Policy (e :: allow p) [] (deny p).
Definition datagram (r : request) : bool :=
  match r with Connect f => proto_eqb (f_proto f) Udp | Resolve _ _ => false end.
Definition askable (p : policy) (r : request) : bool :=
  negb (datagram r) && existsb (fun e => granted (with_entry p e) r) (ask p).

Inductive verdict := Deny | Ask | Allow.
Definition verdict_of (p : policy) (r : request) : verdict :=
  if granted p r then Allow else if askable p r then Ask else Deny.

(* What a hello is denied for before a request is read. *)
Definition denied_first (p : policy) (f : flow) : bool :=
  existsb (fun d => denies d f && negb (is_http d) && (negb (match g_dest d with DName _ _ => true | _ => false end) || is_tls f))
          (deny p).
(* The packets of a request: they know a name that the address was resolved for. *)
Definition packets (f : flow) : flow :=
  Flow (f_proto f) (f_port f) (f_addr f) (if f_tied f then f_name f else None) (f_tied f) Raw.

(* Of several reasons of a denial the first that holds. *)
Definition of_packets (p : policy) (f : flow) : reason :=
  if negb (opened (allow p) f) then OfFloor
  else if denied p f then Denied
  else nearest (fun g => nearness g f) (allow p).
Definition of_request (p : policy) (f : flow) : reason :=
  let arrived := nearest (fun g => arrival g f) (allow p) in
  if negb (opened (allow p) f) then OfFloor
  else if denied_first p f then Denied
  else if nameless f && negb (nameless_passes p f) then NoName
  else if is_tls f && negb (is_granted arrived) then arrived
  else if tunnels p f then MethodOther
  else if crooked p f then NotCanonical
  else if denied p f then Denied
  else nearest (fun g => nearness g f) (allow p).
Definition passing (r : reason) : bool := match r with Granted | NotHttp => true | _ => false end.
Definition reason_of (p : policy) (r : request) : reason :=
  match r with
  | Connect f =>
      if is_raw f then of_packets p f
      else if match f_addr f with Some _ => has_name f | None => false end &&
              negb (passing (of_packets p (packets f))) then of_packets p (packets f)
      else of_request p f
  | Resolve n answered =>
      if existsb (fun d => denied_whole d n) (deny p) then Denied
      else if existsb (fun g => names g n) (allow p) then QueryType else NoGrant
  end.
Definition why (p : policy) (r : request) : reason :=
  match verdict_of p r with Allow => Granted | Ask => Asked | Deny => reason_of p r end.
Definition decide (p : policy) (r : request) : verdict * reason := (verdict_of p r, why p r).
