(* Each request is decided as one of finitely many: its port, address, labels,
   method and segments brought to the borders of a policy. doc/proof.md says
   what follows in words. *)
From Coq Require Import List Bool NArith Ascii String Lia Arith.
From Model Require Import Base Decide.
Import ListNotations.
Open Scope N_scope.

(* --- the borders of a list of entries --------------------------------------- *)

Definition ends (g : grant) : list N := flat_map (fun r => [p_lo r; p_hi r + 1]) (g_ports g).
Definition net_ends (v6 : bool) (n : net) : list N :=
  if Bool.eqb (n_v6 n) v6 then [n_lo n; n_hi n + 1] else [].
Definition dest_ends (v6 : bool) (g : grant) : list N :=
  match g_dest g with DNet n => net_ends v6 n | _ => [] end.
Definition labels (g : grant) : list string :=
  match g_dest g with DName _ ls => spelled ls | _ => [] end.
Definition depth (g : grant) : nat :=
  match g_dest g with DName _ ls => List.length ls | _ => 0%nat end.
Definition rules_of (g : grant) : list rule := match g_http g with None => [] | Some l => l end.
Definition some {A} (o : option (list A)) : list A := match o with None => [] | Some l => l end.
Definition methods (g : grant) : list string := flat_map (fun r => some (ru_methods r)) (rules_of g).
Definition prefixes (g : grant) : list (list string) := flat_map (fun r => some (ru_paths r)) (rules_of g).
Definition special (v6 : bool) : list N := flat_map (net_ends v6) (floor_nets ++ private_nets).

Record borders := Borders {
  b_ports : list N; b_v4 : list N; b_v6 : list N;
  b_labels : list string; b_depth : nat;
  b_methods : list string;
  b_segments : list string; b_length : nat }.
Definition most (l : list nat) : nat := fold_right Nat.max 0%nat l.
Definition borders_of (gs : list grant) : borders :=
  Borders (flat_map ends gs)
    (special false ++ flat_map (dest_ends false) gs)
    (special true ++ flat_map (dest_ends true) gs)
    (flat_map labels gs) (S (most (map depth gs)))
    ("CONNECT"%string :: flat_map methods gs)
    (List.concat (flat_map prefixes gs)) (most (map (@List.length string) (flat_map prefixes gs))).

(* A word that none of them is: longer than each. *)
Fixpoint exes (n : nat) : string :=
  match n with O => EmptyString | S n => String "x"%char (exes n) end.
Definition other (ks : list string) : string := exes (S (most (map String.length ks))).

Lemma most_ge : forall l x, In x l -> (x <= most l)%nat.
Proof.
  unfold most. induction l as [|a l IH]; simpl; intros x [].
  - subst. lia.
  - specialize (IH x H). lia.
Qed.
Lemma exes_length : forall n, String.length (exes n) = n.
Proof. induction n; simpl; auto. Qed.
Lemma other_is_new : forall ks, known ks (other ks) = false.
Proof.
  intros ks. destruct (known ks (other ks)) eqn:K; auto. apply known_in in K.
  apply (in_map String.length) in K. apply most_ge in K.
  unfold other in K at 1. rewrite exes_length in K. lia.
Qed.

(* --- a request brought to the borders ---------------------------------------- *)

Definition blur_word (ks : list string) (s : string) : string := blur ks (other ks) s.
Definition blur_words (ks : list string) (k : nat) (s : list string) : list string :=
  map (blur_word ks) (firstn k s).
Definition blur_addr (b : borders) (a : addr) : addr :=
  Addr (a_v6 a) (rep (if a_v6 a then b_v6 b else b_v4 b) (a_n a)).
Definition blur_what (b : borders) (w : what) : what :=
  match w with
  | Raw => Raw
  | Http tls m c s dec => Http tls (blur_word (b_methods b) m) c
      (blur_words (b_segments b) (b_length b) s) (blur_words (b_segments b) (b_length b) dec)
  end.
Definition blur_name (b : borders) : name -> name := blur_words (b_labels b) (b_depth b).
Definition blur_flow (b : borders) (f : flow) : flow :=
  Flow (f_proto f) (rep (b_ports b) (f_port f)) (option_map (blur_addr b) (f_addr f))
       (option_map (blur_name b) (f_name f)) (f_tied f) (blur_what b (f_what f)).
Definition blurred (b : borders) (r : request) : request :=
  match r with
  | Connect f => Connect (blur_flow b f)
  | Resolve n answered => Resolve (blur_name b n) answered
  end.

(* --- what an entry says of it ------------------------------------------------- *)

Record covers (b : borders) (g : grant) : Prop := {
  c_ports : incl (ends g) (b_ports b);
  c_v4 : incl (dest_ends false g) (b_v4 b);
  c_v6 : incl (dest_ends true g) (b_v6 b);
  c_labels : incl (labels g) (b_labels b);
  c_depth : (depth g < b_depth b)%nat;
  c_methods : incl (methods g) (b_methods b);
  c_segments : forall p, In p (prefixes g) -> incl p (b_segments b) /\ (List.length p <= b_length b)%nat }.
Record knows_scopes (b : borders) : Prop := {
  k_v4 : incl (special false) (b_v4 b);
  k_v6 : incl (special true) (b_v6 b);
  k_connect : In "CONNECT"%string (b_methods b) }.

Lemma borders_cover : forall gs g, In g gs -> covers (borders_of gs) g.
Proof.
  intros gs g H. constructor;
    cbn [borders_of b_ports b_v4 b_v6 b_labels b_depth b_methods b_segments b_length].
  - intros x X. apply in_flat_map. eauto.
  - apply incl_appr. intros x X. apply in_flat_map. eauto.
  - apply incl_appr. intros x X. apply in_flat_map. eauto.
  - intros x X. apply in_flat_map. eauto.
  - apply (in_map depth), most_ge in H. lia.
  - apply incl_tl. intros x X. apply in_flat_map. eauto.
  - intros p P. assert (I : In p (flat_map prefixes gs)) by (apply in_flat_map; eauto).
    split.
    + intros x X. apply in_concat. eauto.
    + apply (in_map (@List.length string)), most_ge in I. exact I.
Qed.
Lemma borders_know : forall gs, knows_scopes (borders_of gs).
Proof.
  intros gs. constructor; cbn [borders_of b_v4 b_v6 b_methods];
  [apply incl_appl, incl_refl | apply incl_appl, incl_refl | left; reflexivity].
Qed.

Section Entry.
Variable b : borders.
Variable K : knows_scopes b.

Lemma net_blur : forall n a, incl (net_ends false n) (b_v4 b) -> incl (net_ends true n) (b_v6 b) ->
  net_has n (blur_addr b a) = net_has n a.
Proof.
  intros [v lo hi] [w x] H4 H6. unfold net_has, net_ends in *; simpl in *.
  destruct v, w; simpl in *; auto; apply inb_rep; try (apply H4; simpl; auto); apply H6; simpl; auto.
Qed.
Lemma special_blur : forall n a, In n (floor_nets ++ private_nets) ->
  net_has n (blur_addr b a) = net_has n a.
Proof.
  intros n a H. apply net_blur.
  - intros x X. apply (k_v4 b K). apply in_flat_map. eauto.
  - intros x X. apply (k_v6 b K). apply in_flat_map. eauto.
Qed.
Lemma floor_blur : forall a, in_floor (blur_addr b a) = in_floor a.
Proof. intros. apply existsb_ext_in. intros. apply special_blur. apply in_or_app; auto. Qed.
Lemma private_blur : forall a, in_private (blur_addr b a) = in_private a.
Proof. intros. apply existsb_ext_in. intros. apply special_blur. apply in_or_app; auto. Qed.
Lemma public_blur : forall a, public (option_map (blur_addr b) a) = public a.
Proof. intros [a|]; simpl; auto. rewrite floor_blur, private_blur. auto. Qed.
Lemma floored_blur : forall a, floored (option_map (blur_addr b) a) = floored a.
Proof. intros [a|]; simpl; auto. apply floor_blur. Qed.
Lemma has_name_blur : forall f, has_name (blur_flow b f) = has_name f.
Proof. intros f. unfold has_name; simpl. destruct (f_name f); auto. Qed.
Lemma is_raw_blur : forall f, is_raw (blur_flow b f) = is_raw f.
Proof. intros f. unfold is_raw; simpl. destruct (f_what f); auto. Qed.

Lemma is_tls_blur : forall f, is_tls (blur_flow b f) = is_tls f.
Proof. intros f. unfold is_tls; simpl. destruct (f_what f); auto. Qed.

Lemma is_connect_blur : forall f, is_connect (blur_flow b f) = is_connect f.
Proof.
  intros f. unfold is_connect, blur_flow, blur_what; cbn [f_what]. destruct (f_what f); auto.
  apply blur_eqb; [apply other_is_new | apply k_connect, K].
Qed.

Variable g : grant.
Variable C : covers b g.

Lemma port_blur : forall pr x, has_port g pr (rep (b_ports b) x) = has_port g pr x.
Proof.
  intros pr x. unfold has_port. apply existsb_ext_in. intros r H. f_equal.
  apply inb_rep; apply (c_ports b g C); unfold ends; apply in_flat_map; exists r; simpl; auto.
Qed.
Lemma dest_blur : forall n a, g_dest g = DNet n -> net_has n (blur_addr b a) = net_has n a.
Proof.
  intros n a D. pose proof (c_v4 b g C). pose proof (c_v6 b g C).
  unfold dest_ends in *. rewrite D in *. apply net_blur; auto.
Qed.
Lemma forallb_ext_in : forall A (f h : A -> bool) l,
  (forall x, In x l -> f x = h x) -> forallb f l = forallb h l.
Proof.
  induction l as [|a l IH]; intros H; simpl; auto.
  rewrite H, IH; simpl; auto. intros; apply H; simpl; auto.
Qed.
Lemma opens_floor_blur : forall a, opens_floor g (blur_addr b a) = opens_floor g a.
Proof.
  intros a. unfold opens_floor. destruct (g_dest g); auto. f_equal.
  apply forallb_ext_in. intros e H. rewrite special_blur; auto. apply in_or_app; auto.
Qed.
Lemma name_blur : forall deep ls n, g_dest g = DName deep ls ->
  name_match deep ls (blur_name b n) = name_match deep ls n.
Proof.
  intros deep ls n D. pose proof (c_labels b g C) as L. pose proof (c_depth b g C) as Q.
  unfold labels, depth in *. rewrite D in *. unfold blur_name, blur_words, blur_word.
  rewrite name_match_blur; auto using other_is_new. apply name_match_firstn; auto.
Qed.
Lemma speaks_blur : forall f, speaks g (blur_flow b f) = speaks g f.
Proof.
  intros f. unfold speaks. rewrite has_name_blur, is_raw_blur; simpl. rewrite public_blur.
  destruct (g_dest g) eqn:D; auto; [destruct (f_name f) | destruct (f_addr f)]; simpl; auto.
  - apply name_blur; auto.
  - rewrite (dest_blur _ _ D), floor_blur, opens_floor_blur. auto.
Qed.
Lemma denial_speaks_blur : forall f, denial_speaks g (blur_flow b f) = denial_speaks g f.
Proof.
  intros f. unfold denial_speaks. destruct (g_dest g) eqn:D; auto using speaks_blur; simpl.
  destruct (f_addr f); simpl; auto. apply dest_blur; auto.
Qed.
Lemma scheme_blur : forall f, scheme_ok g (blur_flow b f) = scheme_ok g f.
Proof. intros f. unfold scheme_ok; simpl. destruct (g_tls g); auto. destruct (f_what f); auto. Qed.

Lemma method_blur : forall r m, In r (rules_of g) ->
  method_ok r (blur_word (b_methods b) m) = method_ok r m.
Proof.
  intros r m H. unfold method_ok. destruct (ru_methods r) as [l|] eqn:E; auto.
  apply existsb_ext_in. intros x X. rewrite String.eqb_sym, (String.eqb_sym m).
  apply blur_eqb; auto using other_is_new. apply (c_methods b g C).
  apply in_flat_map. exists r. rewrite E. auto.
Qed.
Lemma path_blur : forall r s, In r (rules_of g) ->
  path_ok r (blur_words (b_segments b) (b_length b) s) = path_ok r s.
Proof.
  intros r s H. unfold path_ok. destruct (ru_paths r) as [l|] eqn:E; auto.
  apply existsb_ext_in. intros p P. destruct (c_segments b g C p) as [I L].
  { apply in_flat_map. exists r. rewrite E. auto. }
  unfold blur_words, blur_word. rewrite below_blur; auto using other_is_new. apply below_firstn; auto.
Qed.
Lemma some_method_blur : forall m, some_method g (blur_word (b_methods b) m) = some_method g m.
Proof.
  intros m. pose proof method_blur as R. unfold some_method, rules_of in *. destruct (g_http g); auto.
  apply existsb_ext_in. intros; auto.
Qed.
Lemma some_rule_blur : forall m s,
  some_rule g (blur_word (b_methods b) m) (blur_words (b_segments b) (b_length b) s) = some_rule g m s.
Proof.
  intros m s. pose proof method_blur as R. pose proof path_blur as P.
  unfold some_rule, rules_of in *. destruct (g_http g); auto.
  apply existsb_ext_in. intros r H. rewrite R, P; auto.
Qed.
Lemma denies_blur : forall f, denies g (blur_flow b f) = denies g f.
Proof.
  intros f. unfold denies. rewrite denial_speaks_blur, scheme_blur; simpl. rewrite port_blur.
  destruct (f_what f); simpl; auto. rewrite some_rule_blur; auto.
Qed.
Lemma aims_blur : forall side f, aims side g (blur_flow b f) = aims side g f.
Proof.
  intros side f. unfold aims. rewrite denial_speaks_blur, speaks_blur, scheme_blur; simpl.
  rewrite port_blur. auto.
Qed.
Lemma arrival_blur : forall f, arrival g (blur_flow b f) = arrival g f.
Proof.
  intros f. unfold arrival. rewrite speaks_blur, is_raw_blur, scheme_blur; simpl.
  rewrite port_blur, public_blur, floored_blur. auto.
Qed.
Lemma nearness_blur : forall f, nearness g (blur_flow b f) = nearness g f.
Proof.
  intros f. unfold nearness. rewrite arrival_blur; simpl.
  destruct (arrival g f); auto. destruct (f_what f); simpl; auto.
  rewrite some_method_blur, some_rule_blur; auto.
Qed.
Lemma names_blur : forall n, names g (blur_name b n) = names g n.
Proof. intros n. unfold names. destruct (g_dest g) eqn:D; auto. apply name_blur; auto. Qed.
Lemma denied_whole_blur : forall n, denied_whole g (blur_name b n) = denied_whole g n.
Proof. intros n. unfold denied_whole. destruct (g_dest g) eqn:D; auto. rewrite name_blur; auto. Qed.
End Entry.

(* --- what a policy says of it -------------------------------------------------- *)

Section Policy.
Variable b : borders.
Variable K : knows_scopes b.

Definition within (p : policy) : Prop :=
  forall g, In g (allow p ++ ask p ++ deny p) -> covers b g.

Lemma nearest_ext : forall near near' gs, (forall g, In g gs -> near g = near' g) ->
  nearest near gs = nearest near' gs.
Proof.
  induction gs as [|g gs IH]; intros H; simpl; auto.
  rewrite H, IH; simpl; auto. intros; apply H; simpl; auto.
Qed.

Section One.
Variable p : policy.
Variable A : forall g, In g (allow p) -> covers b g.
Variable D : forall g, In g (deny p) -> covers b g.

Lemma opened_blur : forall f, opened (allow p) (blur_flow b f) = opened (allow p) f.
Proof.
  intros f. unfold opened; simpl. destruct (f_addr f) as [a|] eqn:E; simpl; auto.
  rewrite floor_blur; auto. f_equal. apply existsb_ext_in. intros g H.
  rewrite speaks_blur, opens_floor_blur; auto.
Qed.
Lemma denied_blur : forall f, denied p (blur_flow b f) = denied p f.
Proof. intros f. apply existsb_ext_in. intros. apply denies_blur; auto. Qed.
Lemma denied_first_blur : forall f, denied_first p (blur_flow b f) = denied_first p f.
Proof.
  intros f. apply existsb_ext_in. intros g H. rewrite denies_blur, is_tls_blur by auto. auto.
Qed.
Lemma covered_blur : forall f, covered p (blur_flow b f) = covered p f.
Proof.
  intros f. apply existsb_ext_in. intros g H. rewrite speaks_blur by auto; simpl.
  rewrite port_blur; auto.
Qed.
Lemma opened_tls_blur : forall f, opened_tls p (blur_flow b f) = opened_tls p f.
Proof.
  intros f. unfold opened_tls. rewrite covered_blur. f_equal; [|f_equal];
    apply existsb_ext_in; intros; [rewrite aims_blur | rewrite arrival_blur]; auto.
Qed.
Lemma crooked_blur : forall f, crooked p (blur_flow b f) = crooked p f.
Proof.
  intros f. unfold crooked. rewrite covered_blur, opened_tls_blur, is_tls_blur; simpl.
  destruct (f_what f) as [|t m [|] s c]; simpl; auto.
  f_equal; [f_equal|]; apply existsb_ext_in; intros; rewrite aims_blur; auto.
Qed.
Lemma nameless_blur : forall f, nameless (blur_flow b f) = nameless f.
Proof. intros f. unfold nameless. rewrite is_tls_blur, has_name_blur. auto. Qed.
Lemma nameless_passes_blur : forall f, nameless_passes p (blur_flow b f) = nameless_passes p f.
Proof.
  intros f. unfold nameless_passes. rewrite covered_blur. f_equal; f_equal; [f_equal|];
    apply existsb_ext_in; intros g H.
  - rewrite denial_speaks_blur by auto; simpl. rewrite port_blur; auto.
  - unfold permits. rewrite nearness_blur; auto.
Qed.
Lemma tunnels_blur : forall f, tunnels p (blur_flow b f) = tunnels p f.
Proof.
  intros f. unfold tunnels, read_in_clear.
  rewrite is_connect_blur, is_tls_blur, nameless_blur, opened_tls_blur, covered_blur by auto.
  cbn [blur_flow f_proto f_port f_addr]. rewrite public_blur by auto.
  rewrite (existsb_ext_in _ (fun d => looks d && has_port d (f_proto f) (rep (b_ports b) (f_port f)))
                            (fun d => looks d && has_port d (f_proto f) (f_port f)))
    by (intros; rewrite port_blur; auto).
  rewrite (existsb_ext_in _
    (fun g => is_any g && negb (is_http g) && has_port g (f_proto f) (rep (b_ports b) (f_port f)))
    (fun g => is_any g && negb (is_http g) && has_port g (f_proto f) (f_port f)))
    by (intros; rewrite port_blur; auto). auto.
Qed.
Lemma granted_blur : forall r, granted p (blurred b r) = granted p r.
Proof.
  intros [f|n a]; simpl.
  - rewrite opened_blur, denied_blur, crooked_blur, nameless_blur, nameless_passes_blur,
      tunnels_blur. f_equal.
    apply existsb_ext_in. intros. unfold permits. rewrite nearness_blur; auto.
  - f_equal; [f_equal; f_equal|]; apply existsb_ext_in; intros;
      [apply denied_whole_blur | apply names_blur]; auto.
Qed.
Lemma nearness_all_blur : forall f,
  nearest (fun g => nearness g (blur_flow b f)) (allow p) = nearest (fun g => nearness g f) (allow p).
Proof. intros f. apply nearest_ext. intros. apply nearness_blur; auto. Qed.
Lemma of_packets_blur : forall f, of_packets p (blur_flow b f) = of_packets p f.
Proof. intros f. unfold of_packets. rewrite opened_blur, denied_blur, nearness_all_blur. auto. Qed.
Lemma of_request_blur : forall f, of_request p (blur_flow b f) = of_request p f.
Proof.
  intros f. unfold of_request.
  rewrite opened_blur, denied_first_blur, nameless_blur, nameless_passes_blur, is_tls_blur,
    tunnels_blur, crooked_blur, denied_blur, nearness_all_blur.
  rewrite (nearest_ext (fun g => arrival g (blur_flow b f)) (fun g => arrival g f))
    by (intros; apply arrival_blur; auto). auto.
Qed.
Lemma reason_blur : forall r, reason_of p (blurred b r) = reason_of p r.
Proof.
  intros [f|n a]; unfold reason_of, blurred.
  - rewrite is_raw_blur, has_name_blur, of_packets_blur, of_request_blur.
    replace (packets (blur_flow b f)) with (blur_flow b (packets f))
      by (unfold packets, blur_flow; simpl; destruct (f_tied f); reflexivity).
    rewrite of_packets_blur; simpl. destruct (f_addr f); auto.
  - rewrite (existsb_ext_in _ (fun d => denied_whole d (blur_name b n)) (fun d => denied_whole d n))
      by (intros; apply denied_whole_blur; auto).
    rewrite (existsb_ext_in _ (fun g => names g (blur_name b n)) (fun g => names g n))
      by (intros; apply names_blur; auto). auto.
Qed.
End One.

Theorem decided_at_the_borders : forall p r, within p -> decide p (blurred b r) = decide p r.
Proof.
  intros p r C.
  assert (A : forall g, In g (allow p) -> covers b g) by (intros; apply C; rewrite !in_app_iff; auto).
  assert (S : forall g, In g (ask p) -> covers b g) by (intros; apply C; rewrite !in_app_iff; auto).
  assert (D : forall g, In g (deny p) -> covers b g) by (intros; apply C; rewrite !in_app_iff; auto).
  assert (V : verdict_of p (blurred b r) = verdict_of p r).
  { unfold verdict_of, askable. rewrite granted_blur by auto.
    replace (datagram (blurred b r)) with (datagram r) by (destruct r; auto).
    rewrite (existsb_ext_in _ (fun e => granted (with_entry p e) (blurred b r))
                              (fun e => granted (with_entry p e) r)); auto.
    intros e H. apply granted_blur; simpl; auto. intros g [<-|G]; auto. }
  unfold decide, why. rewrite V, reason_blur; auto.
Qed.
End Policy.

(* --- the finitely many --------------------------------------------------------- *)

(* All lists of at most k of these. *)
Fixpoint lists {A} (k : nat) (l : list A) : list (list A) :=
  match k with
  | O => [[]]
  | S k => [] :: flat_map (fun x => map (cons x) (lists k l)) l
  end.
Lemma lists_all : forall A (l : list A) k n, (List.length n <= k)%nat -> incl n l -> In n (lists k l).
Proof.
  induction k as [|k IH]; intros n L I; destruct n as [|x n]; simpl in *; auto; [lia|].
  right. apply in_flat_map. exists x. split; [apply I; simpl; auto|].
  apply in_map, IH; [lia|]. intros y Y. apply I; simpl; auto.
Qed.

Definition words (ks : list string) : list string := other ks :: ks.
Definition addrs (b : borders) : list addr :=
  map (Addr false) (0 :: b_v4 b) ++ map (Addr true) (0 :: b_v6 b).
Definition all_names (b : borders) : list name := lists (b_depth b) (words (b_labels b)).
Definition all_paths (b : borders) : list (list string) := lists (b_length b) (words (b_segments b)).
Definition bools : list bool := [true; false].
Definition maybe {A} (l : list A) : list (option A) := None :: map Some l.
Definition whats (b : borders) : list what :=
  Raw :: flat_map (fun tls => flat_map (fun m => flat_map (fun c => flat_map (fun s =>
           map (Http tls m c s) (all_paths b)) (all_paths b)) bools)
         (words (b_methods b))) bools.
Definition cells (b : borders) : list request :=
  flat_map (fun n => map (Resolve n) bools) (all_names b) ++
  flat_map (fun pr => flat_map (fun port => flat_map (fun a => flat_map (fun n =>
    flat_map (fun tied => map (fun w => Connect (Flow pr port a n tied w)) (whats b))
    bools) (maybe (all_names b))) (maybe (addrs b))) (0 :: b_ports b)) [Tcp; Udp].

Lemma blur_word_in : forall ks s, In (blur_word ks s) (words ks).
Proof.
  intros ks s. unfold blur_word, blur, words. destruct (known ks s) eqn:E; simpl; auto.
  apply known_in in E. auto.
Qed.
Lemma blur_words_in : forall ks k s, In (blur_words ks k s) (lists k (words ks)).
Proof.
  intros ks k s. apply lists_all.
  - unfold blur_words. rewrite map_length, firstn_length. lia.
  - intros x X. apply in_map_iff in X as [y [<- _]]. apply blur_word_in.
Qed.
Lemma bool_in : forall x, In x bools.
Proof. intros []; simpl; auto. Qed.
Lemma maybe_in : forall A (f : A -> A) l o, (forall x, In (f x) l) -> In (option_map f o) (maybe l).
Proof. intros A f l [x|] H; simpl; auto. right. apply in_map; auto. Qed.

Theorem each_is_a_cell : forall b r, In (blurred b r) (cells b).
Proof.
  intros b [f|n a]; simpl; unfold cells; apply in_or_app; [right|left].
  - apply in_flat_map. exists (f_proto f). split; [destruct (f_proto f); simpl; auto|].
    apply in_flat_map. exists (rep (b_ports b) (f_port f)). split; [apply rep_in|].
    apply in_flat_map. exists (option_map (blur_addr b) (f_addr f)). split.
    { apply maybe_in. intros [v6 x]. unfold addrs, blur_addr; simpl a_v6; simpl a_n.
      apply in_or_app. destruct v6; [right|left]; apply in_map, rep_in. }
    apply in_flat_map. exists (option_map (blur_name b) (f_name f)). split.
    { apply maybe_in. intros. apply blur_words_in. }
    apply in_flat_map. exists (f_tied f). split; [apply bool_in|].
    apply in_map_iff. exists (blur_what b (f_what f)). split; auto.
    unfold whats. destruct (f_what f) as [|tls m c s d]; cbn [blur_what]; [left; reflexivity|right].
    apply (in_flat_map _ bools). exists tls. split; [apply bool_in|].
    apply in_flat_map. exists (blur_word (b_methods b) m). split; [apply blur_word_in|].
    apply (in_flat_map _ bools). exists c. split; [apply bool_in|].
    apply in_flat_map. exists (blur_words (b_segments b) (b_length b) s). split; [apply blur_words_in|].
    apply in_map, blur_words_in.
  - apply in_flat_map. exists (blur_name b n). split; [apply blur_words_in|].
    apply in_map, bool_in.
Qed.

(* --- diff and never -------------------------------------------------------------- *)

Definition entries (p : policy) : list grant := allow p ++ ask p ++ deny p.

Lemma within_by : forall gs p, incl (entries p) gs -> within (borders_of gs) p.
Proof. intros gs p I g H. apply borders_cover, I, H. Qed.

(* Two policies that agree at each cell of the product of their borders agree
   on each request: what compares the cells misses no difference. *)
Theorem diff_misses_nothing : forall p q,
  (forall r, In r (cells (borders_of (entries p ++ entries q))) -> decide p r = decide q r) ->
  forall r, decide p r = decide q r.
Proof.
  intros p q H r. set (b := borders_of (entries p ++ entries q)) in *.
  rewrite <- (decided_at_the_borders b (borders_know _) p) by (apply within_by, incl_appl, incl_refl).
  rewrite <- (decided_at_the_borders b (borders_know _) q) by (apply within_by, incl_appr, incl_refl).
  apply H, each_is_a_cell.
Qed.

(* And whichever is wider there: no gain is missed either. *)
Definition width (v : verdict) : N := match v with Deny => 0 | Ask => 1 | Allow => 2 end.
Theorem diff_misses_no_gain : forall p q,
  (forall r, In r (cells (borders_of (entries p ++ entries q))) ->
    width (verdict_of q r) <= width (verdict_of p r)) ->
  forall r, width (verdict_of q r) <= width (verdict_of p r).
Proof.
  intros p q H r. set (b := borders_of (entries p ++ entries q)) in *.
  pose proof (decided_at_the_borders b (borders_know _) p r
    (within_by _ _ (incl_appl _ (incl_refl _)))) as P.
  pose proof (decided_at_the_borders b (borders_know _) q r
    (within_by _ _ (incl_appr _ (incl_refl _)))) as Q.
  unfold decide in P, Q. injection P as P _. injection Q as Q _.
  rewrite <- P, <- Q. apply H, each_is_a_cell.
Qed.

(* What a set holds is what a denial of it would speak of; questions only where
   it is whole, without ports, methods and paths. *)
Definition holds (whole : bool) (s : grant) (r : request) : bool :=
  match r with Connect f => denies s f | Resolve n _ => whole && denied_whole s n end.

(* A set of which no cell is permitted or asked about has no request that is. *)
Theorem never_misses_nothing : forall p whole s,
  (forall r, In r (cells (borders_of (s :: entries p))) -> holds whole s r = true ->
    verdict_of p r = Deny) ->
  forall r, holds whole s r = true -> verdict_of p r = Deny.
Proof.
  intros p whole s H r S. set (b := borders_of (s :: entries p)) in *.
  assert (E : holds whole s (blurred b r) = holds whole s r).
  { assert (C : covers b s) by (apply borders_cover; simpl; auto).
    assert (K : knows_scopes b) by apply borders_know.
    destruct r; cbn [blurred holds]; [|f_equal]; [apply denies_blur | apply denied_whole_blur]; auto. }
  pose proof (decided_at_the_borders b (borders_know _) p r
    (within_by (s :: entries p) _ (incl_tl _ (incl_refl _)))) as P.
  unfold decide in P. injection P as P _. rewrite <- P.
  apply H; [apply each_is_a_cell | rewrite E; exact S].
Qed.
