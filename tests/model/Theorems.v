(* What holds of every policy and every request: doc/proof.md says it in words. *)
From Coq Require Import List Bool NArith String Lia.
From Model Require Import Base Decide Borders.
Import ListNotations.
Open Scope N_scope.

Definition deny_more (d : grant) (p : policy) : policy := Policy (allow p) (ask p) (d :: deny p).
Definition allow_more (g : grant) (p : policy) : policy := Policy (g :: allow p) (ask p) (deny p).

(* Nothing that a denial speaks of is allowed, whatever else there is. *)
Theorem deny_wins : forall p f d, In d (deny p) -> denies d f = true ->
  verdict_of p (Connect f) = Deny.
Proof.
  intros p f d I D.
  assert (G : forall q, deny q = deny p -> granted q (Connect f) = false).
  { intros q E. simpl. unfold denied. rewrite E.
    replace (existsb (fun d => denies d f) (deny p)) with true.
    - rewrite andb_false_r; auto.
    - symmetry. apply existsb_exists. exists d; auto. }
  unfold verdict_of. rewrite G by auto. unfold askable.
  replace (existsb _ (ask p)) with false; [rewrite andb_false_r; auto|].
  symmetry. induction (ask p) as [|e l IH]; [reflexivity|]. cbn [existsb].
  rewrite G by auto. exact IH.
Qed.

Lemma denial_opens : forall p d f, opened_tls p f = true -> opened_tls (deny_more d p) f = true.
Proof.
  intros p d f H. unfold opened_tls in *. change (covered (deny_more d p) f) with (covered p f).
  simpl. repeat rewrite orb_true_iff in *. tauto.
Qed.
Lemma denial_seen : forall p d, nothing_to_see (deny_more d p) = true -> nothing_to_see p = true.
Proof.
  intros p d H. unfold nothing_to_see in *; simpl in H. apply andb_true_iff in H as [K M].
  rewrite M, andb_true_r. destruct (looks d); simpl in K; [discriminate | exact K].
Qed.
Lemma denial_tunnels : forall p d f, tunnels p f = true -> tunnels (deny_more d p) f = true.
Proof.
  intros p d f H. unfold tunnels in *. apply andb_true_iff in H as [I H]. rewrite I; simpl.
  destruct (is_tls f).
  - apply andb_true_iff in H as [N H]. rewrite N; simpl. apply denial_opens; auto.
  - unfold read_in_clear in *. change (covered (deny_more d p) f) with (covered p f). simpl.
    apply andb_true_iff in H as [A B]. apply andb_true_iff. split.
    + destruct (covered p f); simpl in *; auto. apply negb_true_iff, negb_false_iff in A.
      rewrite A, orb_true_r. auto.
    + destruct (nothing_to_see (deny_more d p)) eqn:E; simpl; auto.
      rewrite (denial_seen _ _ E) in B. exact B.
Qed.
Lemma denial_narrows : forall p d r, granted (deny_more d p) r = true -> granted p r = true.
Proof.
  intros p d [f|n a] H; simpl in *; repeat rewrite andb_true_iff in *.
  - destruct H as [[[[[O D] C] L] T] G]. repeat split; auto.
    + unfold denied in *; simpl in *. destruct (denies d f); simpl in *; [discriminate|auto].
    + unfold crooked in *; simpl in *. destruct (f_what f) as [|t m [|] s c]; auto.
      change (covered (deny_more d p) f) with (covered p f) in C.
      apply negb_true_iff, orb_false_iff in C as [C X]. simpl in X. apply orb_false_iff in X as [_ X].
      rewrite X, orb_false_r. apply negb_true_iff.
      destruct (negb (is_tls f) || opened_tls p f) eqn:R; [|rewrite andb_false_r; auto].
      replace (negb (is_tls f) || opened_tls (deny_more d p) f) with true in C; auto.
      symmetry. apply orb_true_iff in R. apply orb_true_iff. destruct R as [R|R]; auto using denial_opens.
    + destruct (nameless f); simpl in *; auto. unfold nameless_passes in *; simpl in *.
      change (covered (deny_more d p) f) with (covered p f) in L.
      apply orb_true_iff in L. apply orb_true_iff. destruct L as [L|L].
      * left. apply andb_true_iff in L as [K L]. rewrite K; simpl.
        destruct (is_http d && of_tls d && has_port d (f_proto f) (f_port f) &&
                  negb (match g_dest d with DName _ _ => true | _ => false end) && denial_speaks d f);
          simpl in L; [discriminate | exact L].
      * right. apply andb_true_iff in L as [K L]. rewrite L, andb_true_r.
        apply denial_seen with d. exact K.
    + destruct (tunnels p f) eqn:E; auto. rewrite (denial_tunnels _ d _ E) in T. discriminate.
  - destruct H as [[D A] G]. repeat split; auto. destruct (denied_whole d n); simpl in *; [discriminate|auto].
Qed.

Theorem a_denial_never_widens : forall p d r,
  width (verdict_of (deny_more d p) r) <= width (verdict_of p r).
Proof.
  intros p d r. unfold verdict_of.
  destruct (granted (deny_more d p) r) eqn:G.
  - rewrite (denial_narrows _ _ _ G). simpl; lia.
  - destruct (askable (deny_more d p) r) eqn:A.
    + replace (askable p r) with true; [destruct (granted p r); simpl; lia|].
      symmetry. unfold askable in *. apply andb_true_iff in A as [U A].
      rewrite U; simpl. apply existsb_exists in A as [e [I A]].
      apply existsb_exists. exists e. split; [exact I|].
      apply (denial_narrows (with_entry p e) d r). exact A.
    + simpl. destruct (granted p r), (askable p r); simpl; lia.
Qed.

Lemma opened_more : forall g gs f, opened gs f = true -> opened (g :: gs) f = true.
Proof.
  intros g gs f H. unfold opened in *. destruct (f_addr f); auto; simpl in *.
  destruct (negb (in_floor a)); simpl in *; auto. rewrite H, orb_true_r; auto.
Qed.

(* A grant takes nothing away, but in the named cases. *)
Theorem a_grant_never_narrows : forall p g f, granted p (Connect f) = true ->
  granted (allow_more g p) (Connect f) = true \/
  crooked (allow_more g p) f = true \/ tunnels (allow_more g p) f = true \/
  nameless f = true /\ nothing_to_see p = true /\ nothing_to_see (allow_more g p) = false.
Proof.
  intros p g f H. simpl in H. repeat rewrite andb_true_iff in H.
  destruct H as [[[[[O D] X] L] T] G].
  destruct (crooked (allow_more g p) f) eqn:C; [auto|].
  destruct (tunnels (allow_more g p) f) eqn:U; [auto|].
  destruct (negb (nameless f) || nameless_passes (allow_more g p) f) eqn:M.
  - left. unfold granted. change (denied (allow_more g p) f) with (denied p f).
    change (allow (allow_more g p)) with (g :: allow p). cbn [existsb].
    rewrite C, M, U, (opened_more g _ _ O), D, G. simpl. rewrite orb_true_r. auto.
  - right; right; right. apply orb_false_iff in M as [N M]. apply negb_false_iff in N.
    rewrite N in L; simpl in L. split; [exact N|].
    unfold nameless_passes in L, M. apply orb_false_iff in M as [M1 M2].
    apply orb_true_iff in L as [L|L].
    + exfalso. apply andb_true_iff in L as [K L].
      change (deny (allow_more g p)) with (deny p) in M1. rewrite L, andb_true_r in M1.
      unfold covered in *. simpl in M1. rewrite K, orb_true_r in M1. discriminate.
    + apply andb_true_iff in L as [K L]. split; [exact K|].
      simpl in M2. rewrite L, orb_true_r, andb_true_r in M2. exact M2.
Qed.

(* The first has a grant with rules, and a path with another spelling. *)
Theorem the_named_case : forall p g f, crooked p f = false -> crooked (allow_more g p) f = true ->
  is_http g = true /\ exists t m s c, f_what f = Http t m false s c.
Proof.
  intros p g f N H. unfold crooked in *.
  destruct (f_what f) as [|t m [|] s c]; try discriminate.
  split; [|exists t, m, s, c; auto]. apply orb_false_iff in N as [N D].
  simpl in H. rewrite D, orb_false_r in H. repeat rewrite andb_true_iff in H.
  destruct H as [[V R] H]. destruct (is_http g) eqn:I; auto.
  assert (P : has_paths g = false) by (unfold has_paths, is_http in *; destruct (g_http g); auto; discriminate).
  rewrite P, andb_false_r in H; simpl in H. rewrite H, andb_true_r in N.
  assert (W : covered p f = false).
  { unfold covered in *. simpl in V. apply negb_true_iff, orb_false_iff in V. tauto. }
  rewrite W in N; simpl in N. unfold opened_tls in *. rewrite W in N; simpl in *.
  rewrite I in R; simpl in R. repeat rewrite orb_true_iff in R. repeat rewrite orb_false_iff in N.
  destruct N as [N1 [N2 N3]]. destruct R as [R|[R|R]]; try congruence.
  apply andb_true_iff in R as [_ R]. congruence.
Qed.
(* So has the second, of CONNECT. *)
Theorem the_case_of_connect : forall p g f, tunnels p f = false -> tunnels (allow_more g p) f = true ->
  is_http g = true /\ is_connect f = true.
Proof.
  intros p g f N H. unfold tunnels in *. apply andb_true_iff in H as [I H]. rewrite I in N; simpl in N.
  split; auto. destruct (is_http g) eqn:E; auto. exfalso.
  assert (V : covered (allow_more g p) f = false -> covered p f = false)
    by (unfold covered; simpl; intros X; apply orb_false_iff in X; tauto).
  destruct (is_tls f).
  - destruct (negb (nameless f)); simpl in *; [|discriminate].
    unfold opened_tls in *. simpl in H. rewrite E in H; simpl in H. apply orb_false_iff in N as [N M].
    rewrite N in H; simpl in H. apply andb_true_iff in H as [K H].
    apply negb_true_iff in K. rewrite (V K), H in M. discriminate.
  - unfold read_in_clear in *. apply andb_true_iff in H as [K H].
    change (deny (allow_more g p)) with (deny p) in K.
    apply andb_false_iff in N as [N|N].
    + apply negb_false_iff, andb_true_iff in N as [N M].
      assert (C : covered (allow_more g p) f = true)
        by (unfold covered in *; simpl; rewrite N, orb_true_r; auto).
      rewrite C, M in K. discriminate.
    + apply negb_false_iff in N. repeat rewrite andb_true_iff in N. destruct N as [[S P] N].
      assert (Z : nothing_to_see (allow_more g p) = true)
        by (unfold nothing_to_see in *; simpl; rewrite E, andb_false_r; exact S).
      simpl in H. rewrite Z, P, N, orb_true_r in H. discriminate.
Qed.
(* The third has one with rules, and TLS that states no name under '*'. *)
Theorem the_other_named_case : forall p g, nothing_to_see p = true ->
  nothing_to_see (allow_more g p) = false ->
  is_http g = true /\ has_proto g Tcp = true.
Proof.
  intros p g N H. unfold nothing_to_see in *. apply andb_true_iff in N as [D N]. simpl in H.
  rewrite D in H; simpl in H. apply negb_true_iff in N. rewrite N, orb_false_r in H.
  apply negb_false_iff in H. repeat rewrite andb_true_iff in H. tauto.
Qed.

(* What is granted in the floor is granted by a network there, more specific
   than the floor, on its own ports: nothing else reaches there through it. *)
Theorem floor_holds : forall p f a, f_addr f = Some a -> in_floor a = true ->
  granted p (Connect f) = true ->
  exists g, In g (allow p) /\ opens_floor g a = true /\ speaks g f = true /\
            has_port g (f_proto f) (f_port f) = true.
Proof.
  intros p f a A F H. simpl in H. repeat rewrite andb_true_iff in H. destruct H as [_ H].
  apply existsb_exists in H as [g [I H]]. exists g. split; [exact I|].
  unfold permits, nearness, arrival in H. rewrite A in H; simpl in H. rewrite F in H; simpl in H.
  destruct (speaks g f) eqn:S; simpl in H; [|discriminate].
  destruct (negb (is_raw f) && _); simpl in H; [discriminate|].
  destruct (has_port g (f_proto f) (f_port f)); simpl in H;
    [|destruct (f_proto f); discriminate].
  destruct (scheme_ok g f); simpl in H; [|discriminate].
  destruct (g_private g && negb (is_raw f)); simpl in H;
    rewrite ?orb_true_r, ?andb_false_r in H; simpl in H;
  unfold by_net, speaks in *; rewrite A in S;
  destruct (g_dest g) eqn:D; try discriminate;
  rewrite F in S; simpl in S; apply andb_true_iff in S as [_ S]; auto.
Qed.

(* A name leads to no private address, but where its grant says so. *)
Theorem private_holds : forall g f, by_net g = false ->
  g_private g = false -> public (f_addr f) = false -> permits g f = false.
Proof.
  intros g f D P A. unfold permits, nearness, arrival. rewrite D, P, A. simpl.
  destruct (negb (speaks g f) || _); auto. destruct (negb (has_port _ _ _)).
  - destruct (f_proto f); auto.
  - destruct (negb (scheme_ok g f)); auto.
Qed.

(* A denial of each port is one of each port, however its ranges are cut. *)
Theorem all_ports_is_each_port : forall g pr, all_of g pr = true <->
  (forall x, 1 <= x <= 65535 -> has_port g pr x = true).
Proof.
  intros g pr. unfold all_of. rewrite forallb_forall. split.
  - intros H x R.
    (* The highest border at or below it: where there is none above the first,
       the first. *)
    assert (E : forall y, 1 <= y -> y <= x ->
      (forall r, In r (g_ports g) -> ~ (y < p_hi r + 1 <= x)) ->
      has_port g pr y = true -> has_port g pr x = true).
    { intros y L U N. unfold has_port. rewrite !existsb_exists. intros [r [I J]].
      exists r. split; auto. apply andb_true_iff in J as [P J]. rewrite P; simpl.
      unfold inb in *. apply andb_true_iff in J as [J1 J2].
      apply N.leb_le in J1. apply negb_true_iff, N.leb_gt in J2.
      apply andb_true_iff. split; [apply N.leb_le; lia|].
      apply negb_true_iff, N.leb_gt. specialize (N r I). lia. }
    set (hs := 1 :: map (fun r => p_hi r + 1) (g_ports g)) in *.
    pose proof (rep_le hs x) as RL.
    pose proof (rep_ge hs x 1 (or_introl eq_refl) (proj1 R)) as RG.
    apply (E (rep hs x)); auto.
    + intros r I [A B].
      pose proof (rep_ge hs x (p_hi r + 1) (or_intror (in_map _ _ _ I)) B). lia.
    + assert (X : In (rep hs x) hs) by (destruct (rep_in hs x); [lia | auto]).
      specialize (H _ X). replace (inb 1 65535 (rep hs x)) with true in H; auto.
      symmetry. unfold inb. apply andb_true_iff. split; [apply N.leb_le; lia|].
      apply negb_true_iff, N.leb_gt. lia.
  - intros H x _. destruct (inb 1 65535 x) eqn:E; simpl; auto. apply H.
    unfold inb in E. apply andb_true_iff in E as [A B].
    apply N.leb_le in A. apply negb_true_iff, N.leb_gt in B. lia.
Qed.
