(* Layers, and what is written in them: doc/semantics.md, sections 1, 7 and 9. *)
From Coq Require Import List Bool NArith Ascii String Permutation Lia.
From Model Require Import Base Decide Borders Theorems Files.
Import ListNotations.
Open Scope N_scope.

(* An entry as it is written: ports may be absent. *)
Record written := Written {
  w_dest : dest; w_tls : option bool; w_ports : option (list prange);
  w_http : option (list rule); w_private : bool }.
Definition all_tcp : list prange := [Ports Tcp 1 65535].
Definition each_port : list prange := all_tcp ++ [Ports Udp 1 65535].

(* Without ports a grant is of TCP, and a denial of everything, but for one of
   requests. A bare '*' in `deny` says nothing. *)
Definition meant (denial : bool) (w : written) : list grant :=
  match denial, w_dest w, w_ports w, w_http w with
  | true, DAny, None, None => []
  | true, _, None, None => [Grant (w_dest w) (w_tls w) each_port None false]
  | _, _, None, _ => [Grant (w_dest w) (w_tls w) all_tcp (w_http w) (w_private w)]
  | _, _, Some ps, _ => [Grant (w_dest w) (w_tls w) ps (w_http w) (w_private w)]
  end.

Record layer := Layer {
  l_allow : list written; l_ask : list written; l_deny : list written;
  l_ignore : list line; l_readonly : list line; l_protect : list line }.
Definition grants (l : layer) : list grant := flat_map (meant false) (l_allow l).
Definition asks (l : layer) : list grant := flat_map (meant false) (l_ask l).
Definition denials (l : layer) : list grant := flat_map (meant true) (l_deny l).
Definition policy_of (ls : list layer) : policy :=
  Policy (flat_map grants ls) (flat_map asks ls) (flat_map denials ls).
Definition files_of (ls : list layer) : files :=
  Files (flat_map l_ignore ls) (flat_map l_readonly ls) (flat_map l_protect ls).

(* A session's changes, in the order in which they were said: of those of one
   destination an earlier one of the other kind is taken back. *)
Record change := Change { ch_allow : bool; ch_dest : string; ch_entry : written }.
Fixpoint settled (cs : list change) : list change :=
  match cs with
  | [] => []
  | c :: cs => if existsb (fun x => xorb (ch_allow x) (ch_allow c) &&
                                    String.eqb (ch_dest x) (ch_dest c)) cs
               then settled cs else c :: settled cs
  end.
Definition session_layer (cs : list change) : layer :=
  Layer (map ch_entry (filter ch_allow (settled cs))) []
        (map ch_entry (filter (fun c => negb (ch_allow c)) (settled cs))) [] [] [].

(* --- the same entries are the same policy ------------------------------------- *)

Lemma existsb_same : forall A (f : A -> bool) l m, (forall x, In x l <-> In x m) ->
  existsb f l = existsb f m.
Proof.
  intros A f l m H. apply eq_true_iff_eq. rewrite !existsb_exists.
  split; intros [x [I E]]; exists x; split; auto; apply H; auto.
Qed.
Definition same_list (l m : list grant) : Prop := forall g, In g l <-> In g m.
Definition same (p q : policy) : Prop :=
  same_list (allow p) (allow q) /\ same_list (ask p) (ask q) /\ same_list (deny p) (deny q).

Lemma granted_same : forall p q r, same_list (allow p) (allow q) -> same_list (deny p) (deny q) ->
  granted p r = granted q r.
Proof.
  intros p q [f|n a] A D; simpl.
  - assert (V : covered p f = covered q f) by (apply existsb_same; auto).
    assert (O : opened (allow p) f = opened (allow q) f).
    { unfold opened. destruct (f_addr f); auto. f_equal. apply existsb_same; auto. }
    assert (N : denied p f = denied q f) by (apply existsb_same; auto).
    assert (T : opened_tls p f = opened_tls q f).
    { unfold opened_tls. rewrite V. f_equal; [|f_equal]; apply existsb_same; auto. }
    assert (S : nothing_to_see p = nothing_to_see q).
    { unfold nothing_to_see. f_equal; f_equal; apply existsb_same; auto. }
    assert (C : crooked p f = crooked q f).
    { unfold crooked. rewrite V, T. destruct (f_what f) as [|t m [|] s c]; auto.
      f_equal; [f_equal|]; apply existsb_same; auto. }
    assert (L : nameless_passes p f = nameless_passes q f).
    { unfold nameless_passes. rewrite V, S. f_equal; f_equal; [f_equal|]; apply existsb_same; auto. }
    assert (U : tunnels p f = tunnels q f).
    { unfold tunnels, read_in_clear. rewrite T, V, S.
      rewrite (existsb_same _ _ _ _ D), (existsb_same _ (fun g => is_any g && _ && _) _ _ A). auto. }
    rewrite O, N, C, L, U. f_equal. apply existsb_same; auto.
  - f_equal; [f_equal; f_equal|]; apply existsb_same; auto.
Qed.
Theorem same_entries_same_verdict : forall p q r, same p q -> verdict_of p r = verdict_of q r.
Proof.
  intros p q r [A [S D]]. unfold verdict_of, askable.
  rewrite (granted_same p q r A D).
  rewrite (existsb_same _ (fun e => granted (with_entry p e) r) _ _ S).
  rewrite (existsb_ext_in _ (fun e => granted (with_entry p e) r) (fun e => granted (with_entry q e) r)); auto.
  intros e _. apply granted_same; simpl; auto.
  intros g. simpl. specialize (A g). tauto.
Qed.

Lemma flat_map_same : forall (f : layer -> list grant) ls ms, Permutation ls ms ->
  same_list (flat_map f ls) (flat_map f ms).
Proof.
  intros f ls ms P g. rewrite !in_flat_map.
  split; intros [l [I E]]; exists l; split; auto.
  - apply (Permutation_in _ P I).
  - apply (Permutation_in _ (Permutation_sym P) I).
Qed.

(* Of connections, requests and questions it is nothing to the verdict in which
   layer, or in what order, an entry stands. *)
Theorem order_of_layers_decides_nothing : forall ls ms r, Permutation ls ms ->
  verdict_of (policy_of ls) r = verdict_of (policy_of ms) r.
Proof.
  intros ls ms r P. apply same_entries_same_verdict. repeat split; simpl;
    apply (flat_map_same _ _ _ P).
Qed.

Theorem deny_of_any_layer_wins : forall ls l w d f, In l ls -> In w (l_deny l) ->
  In d (meant true w) -> denies d f = true -> verdict_of (policy_of ls) (Connect f) = Deny.
Proof.
  intros ls l w d f L W D N. apply (deny_wins _ _ d); auto. simpl.
  apply in_flat_map. exists l. split; auto. apply in_flat_map. exists w. auto.
Qed.
Theorem allow_of_any_layer_wins_over_ask : forall ls r, granted (policy_of ls) r = true ->
  verdict_of (policy_of ls) r = Allow.
Proof. intros ls r H. unfold verdict_of. rewrite H. auto. Qed.
Theorem a_bare_star_denied_is_nothing : forall ls l ms r w, w_dest w = DAny -> w_ports w = None ->
  w_http w = None ->
  verdict_of (policy_of (ls ++ [Layer (l_allow l) (l_ask l) (w :: l_deny l) (l_ignore l)
                                      (l_readonly l) (l_protect l)] ++ ms)) r =
  verdict_of (policy_of (ls ++ [l] ++ ms)) r.
Proof.
  intros ls l ms r w D P H. unfold policy_of. rewrite !flat_map_app; simpl.
  unfold denials at 2. simpl. unfold meant at 1. rewrite D, P, H. reflexivity.
Qed.

(* --- what a layer may do -------------------------------------------------------- *)

Definition deny_all (ds : list grant) (p : policy) : policy := Policy (allow p) (ask p) (ds ++ deny p).
Lemma denials_never_widen : forall ds p r,
  width (verdict_of (deny_all ds p) r) <= width (verdict_of p r).
Proof.
  induction ds as [|d ds IH]; intros p r.
  - destruct p; apply N.le_refl.
  - pose proof (a_denial_never_widens (deny_all ds p) d r) as H. specialize (IH p r).
    eapply N.le_trans; [exact H | exact IH].
Qed.

(* A layer of which each grant, and each entry of `ask`, is one that is there
   already permits nothing more, whatever it denies. *)
Definition adds_nothing (ls : list layer) (l : layer) : Prop :=
  incl (grants l) (allow (policy_of ls)) /\ incl (asks l) (ask (policy_of ls)).
Theorem what_adds_nothing_widens_nothing : forall ls l r, adds_nothing ls l ->
  width (verdict_of (policy_of (ls ++ [l])) r) <= width (verdict_of (policy_of ls) r).
Proof.
  intros ls l r [A S].
  replace (verdict_of (policy_of (ls ++ [l])) r)
    with (verdict_of (deny_all (denials l) (policy_of ls)) r); [apply denials_never_widen|].
  apply same_entries_same_verdict. unfold policy_of, deny_all. rewrite !flat_map_app; simpl.
  rewrite !app_nil_r.
  split; [|split]; intros g; simpl; rewrite !in_app_iff.
  - split; [auto|]. intros [H|H]; [exact H | apply A; exact H].
  - split; [auto|]. intros [H|H]; [exact H | apply S; exact H].
  - tauto.
Qed.

(* What runs: a workspace that adds something does not, before it is approved. *)
Definition runs (ls : list layer) (workspace : layer) (approved : Prop) (p : policy) : Prop :=
  p = policy_of (ls ++ [workspace]) /\ (approved \/ adds_nothing ls workspace).
Theorem nothing_wider_runs_unapproved : forall ls w p r, runs ls w False p ->
  width (verdict_of p r) <= width (verdict_of (policy_of ls) r).
Proof. intros ls w p r [-> [[]|H]]. apply what_adds_nothing_widens_nothing; auto. Qed.

(* Nor does it free a file, as long as its lines have no '!'. *)
Lemma lines_never_free : forall ms ls d p, (forall l, In l ms -> l_back l = false) ->
  falls_under ls d p = true -> falls_under (ls ++ ms) d p = true.
Proof.
  induction ms as [|m ms IH]; intros ls d p B H; [rewrite app_nil_r; auto|].
  change (m :: ms) with ([m] ++ ms). rewrite app_assoc. apply IH.
  - intros; apply B; simpl; auto.
  - apply a_line_never_frees; auto. apply B; simpl; auto.
Qed.
Theorem a_layer_without_bangs_frees_nothing : forall ls l a d p,
  (forall x, In x (l_ignore l ++ l_readonly l ++ l_protect l) -> l_back x = false) ->
  file_fate (files_of (ls ++ [l])) a d p = Free -> file_fate (files_of ls) a d p = Free.
Proof.
  intros ls l a d p B H.
  assert (X : forall f, (forall x, In x (f l) -> l_back x = false) ->
    falls_under (flat_map f (ls ++ [l])) d p = false -> falls_under (flat_map f ls) d p = false).
  { intros f F E. destruct (falls_under (flat_map f ls) d p) eqn:Y; auto.
    rewrite flat_map_app in E; simpl in E. rewrite app_nil_r in E.
    rewrite lines_never_free in E; auto. }
  assert (I : falls_under (flat_map l_ignore (ls ++ [l])) d p = false ->
              falls_under (flat_map l_ignore ls) d p = false)
    by (apply X; intros; apply B; rewrite !in_app_iff; auto).
  assert (R : falls_under (flat_map l_readonly (ls ++ [l])) d p = false ->
              falls_under (flat_map l_readonly ls) d p = false)
    by (apply X; intros; apply B; rewrite !in_app_iff; auto).
  assert (Q : falls_under (flat_map l_protect (ls ++ [l])) d p = false ->
              falls_under (flat_map l_protect ls) d p = false)
    by (apply X; intros; apply B; rewrite !in_app_iff; auto).
  destruct a; simpl in *.
  - destruct (falls_under (flat_map l_ignore (ls ++ [l])) d p); [discriminate|]. rewrite I; auto.
  - destruct (falls_under (flat_map l_ignore (ls ++ [l])) d p); [discriminate|].
    destruct (falls_under (flat_map l_readonly (ls ++ [l])) d p); [discriminate|].
    rewrite I, R; auto.
  - destruct (falls_under (flat_map l_protect (ls ++ [l])) d p); [discriminate|]. rewrite Q; auto.
Qed.

(* --- a session's layer ------------------------------------------------------------ *)

Definition allow_all (gs : list grant) (p : policy) : policy := Policy (gs ++ allow p) (ask p) (deny p).
(* It is so many more grants and denials, and nothing else... *)
Theorem a_session_is_more_entries : forall ls cs r,
  verdict_of (policy_of (ls ++ [session_layer cs])) r =
  verdict_of (deny_all (denials (session_layer cs))
                       (allow_all (grants (session_layer cs)) (policy_of ls))) r.
Proof.
  intros ls cs r. apply same_entries_same_verdict.
  unfold policy_of, deny_all, allow_all. rewrite !flat_map_app; simpl. rewrite !app_nil_r.
  split; [|split]; intros g; simpl; rewrite ?in_app_iff; tauto.
Qed.
(* ...and takes back no denial but its own. *)
Theorem a_session_lifts_no_denial : forall ls cs d f, In d (deny (policy_of ls)) ->
  denies d f = true -> verdict_of (policy_of (ls ++ [session_layer cs])) (Connect f) = Deny.
Proof.
  intros ls cs d f D N. apply (deny_wins _ _ d); auto. simpl. rewrite flat_map_app.
  apply in_or_app; auto.
Qed.
Lemma settled_in : forall cs c, In c (settled cs) -> In c cs.
Proof.
  induction cs as [|x cs IH]; simpl; intros c H; auto.
  destruct (existsb _ cs); [auto|]. destruct H; auto.
Qed.
(* Of one destination what was said last holds. *)
Theorem what_was_said_last_holds : forall cs c x, In x (settled (cs ++ [c])) ->
  ch_dest x = ch_dest c -> ch_allow x = ch_allow c.
Proof.
  induction cs as [|y cs IH]; intros c x H E; simpl in H.
  - destruct H as [<-|[]]; auto.
  - destruct (existsb _ (cs ++ [c])) eqn:X; [auto|]. destruct H as [<-|H]; auto.
    destruct (Bool.eqb (ch_allow y) (ch_allow c)) eqn:B; [apply eqb_prop; auto|].
    exfalso. rewrite existsb_app in X. apply orb_false_iff in X as [_ X]. simpl in X.
    rewrite E, String.eqb_refl in X. destruct (ch_allow y), (ch_allow c); discriminate.
Qed.
Theorem the_last_change_stands : forall cs c, In c (settled (cs ++ [c])).
Proof.
  induction cs as [|y cs IH]; intros c; simpl; auto.
  destruct (existsb _ (cs ++ [c])); simpl; auto.
Qed.
