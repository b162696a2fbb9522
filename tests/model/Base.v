(* Ranges of numbers, names and paths: what all decisions are made of, and why
   a finite number of each says what all of them do. *)
From Coq Require Import List Bool NArith Lia String Arith.
Import ListNotations.
Open Scope N_scope.

(* --- ranges: ports and addresses ------------------------------------------ *)

Definition inb (lo hi x : N) : bool := (lo <=? x) && negb (hi + 1 <=? x).

(* The border at or below x, of those in bs; 0 where there is none. *)
Fixpoint rep (bs : list N) (x : N) : N :=
  match bs with
  | [] => 0
  | b :: bs => let m := rep bs x in if (b <=? x) && (m <=? b) then b else m
  end.

Lemma rep_le : forall bs x, rep bs x <= x.
Proof.
  induction bs as [|b bs IH]; intros x; simpl; [lia|].
  destruct (b <=? x) eqn:E; destruct (rep bs x <=? b) eqn:F; simpl; auto.
  apply N.leb_le in E; auto.
Qed.

Lemma rep_in : forall bs x, In (rep bs x) (0 :: bs).
Proof.
  induction bs as [|b bs IH]; intros x; simpl; [auto|].
  destruct ((b <=? x) && (rep bs x <=? b)); [auto|].
  destruct (IH x); auto.
Qed.

Lemma rep_ge : forall bs x b, In b bs -> b <= x -> b <= rep bs x.
Proof.
  induction bs as [|c bs IH]; intros x b H L; [destruct H|]; simpl.
  destruct H as [->|H].
  - apply N.leb_le in L as L'. rewrite L'; simpl.
    destruct (rep bs x <=? b) eqn:F; [lia|]. apply N.leb_gt in F; lia.
  - specialize (IH x b H L).
    destruct (c <=? x); destruct (rep bs x <=? c) eqn:F; simpl; auto.
    apply N.leb_le in F; lia.
Qed.

Lemma rep_side : forall bs x b, In b bs -> (b <=? rep bs x) = (b <=? x).
Proof.
  intros bs x b H. destruct (b <=? x) eqn:E.
  - apply N.leb_le in E. apply N.leb_le, rep_ge; auto.
  - apply N.leb_gt in E. apply N.leb_gt. pose proof (rep_le bs x); lia.
Qed.

Lemma inb_rep : forall bs lo hi x,
  In lo bs -> In (hi + 1) bs -> inb lo hi (rep bs x) = inb lo hi x.
Proof. intros. unfold inb. rewrite !rep_side; auto. Qed.

(* --- names: labels from the right, patterns likewise ----------------------- *)

Definition name := list string.

Fixpoint labels_match (p : list (option string)) (n : name) : bool :=
  match p, n with
  | [], _ => true
  | None :: p, _ :: n => labels_match p n
  | Some l :: p, m :: n => String.eqb l m && labels_match p n
  | _ :: _, [] => false
  end.

(* deep: '**' on the left, one label or more *)
Definition name_match (deep : bool) (p : list (option string)) (n : name) : bool :=
  labels_match p n &&
  (if deep then (List.length p <? List.length n)%nat
   else (List.length p =? List.length n)%nat).

Lemma labels_match_firstn : forall k p n, (List.length p <= k)%nat ->
  labels_match p (firstn k n) = labels_match p n.
Proof.
  induction k as [|k IH]; intros p n H.
  - destruct p; simpl in *; [destruct n; reflexivity | lia].
  - destruct p as [|[l|] p]; destruct n as [|m n]; simpl in *; auto;
      rewrite IH; auto; lia.
Qed.

Lemma name_match_firstn : forall k deep p n, (List.length p < k)%nat ->
  name_match deep p (firstn k n) = name_match deep p n.
Proof.
  intros k deep p n H. unfold name_match.
  rewrite labels_match_firstn by lia. f_equal.
  rewrite firstn_length.
  destruct deep.
  - destruct (List.length p <? List.length n)%nat eqn:E.
    + apply Nat.ltb_lt in E. apply Nat.ltb_lt. lia.
    + apply Nat.ltb_ge in E. apply Nat.ltb_ge. lia.
  - destruct (List.length p =? List.length n)%nat eqn:E.
    + apply Nat.eqb_eq in E. apply Nat.eqb_eq. lia.
    + apply Nat.eqb_neq in E. apply Nat.eqb_neq. lia.
Qed.

(* A label that no pattern has may stand for each such label. *)
Definition known (ks : list string) (s : string) : bool := existsb (String.eqb s) ks.
Definition blur (ks : list string) (fresh s : string) : string :=
  if known ks s then s else fresh.

Lemma known_in : forall ks s, known ks s = true <-> In s ks.
Proof.
  intros ks s. unfold known. rewrite existsb_exists. split.
  - intros [x [H E]]. apply String.eqb_eq in E. subst; auto.
  - intros H. exists s. rewrite String.eqb_refl. auto.
Qed.

Lemma blur_eqb : forall ks fresh l s, known ks fresh = false -> In l ks ->
  String.eqb l (blur ks fresh s) = String.eqb l s.
Proof.
  intros ks fresh l s F H. unfold blur. destruct (known ks s) eqn:K; auto.
  destruct (String.eqb l s) eqn:E.
  - apply String.eqb_eq in E. subst. apply known_in in H. congruence.
  - apply String.eqb_neq. intros ->. apply known_in in H. congruence.
Qed.

Fixpoint spelled (p : list (option string)) : list string :=
  match p with
  | [] => []
  | Some l :: p => l :: spelled p
  | None :: p => spelled p
  end.

Lemma labels_match_blur : forall ks fresh p n, known ks fresh = false ->
  (forall l, In l (spelled p) -> In l ks) ->
  labels_match p (map (blur ks fresh) n) = labels_match p n.
Proof.
  induction p as [|[l|] p IH]; intros [|m n] F H; simpl in *; auto.
  rewrite blur_eqb, IH; auto.
Qed.

Lemma name_match_blur : forall ks fresh deep p n, known ks fresh = false ->
  (forall l, In l (spelled p) -> In l ks) ->
  name_match deep p (map (blur ks fresh) n) = name_match deep p n.
Proof.
  intros. unfold name_match. rewrite labels_match_blur, map_length; auto.
Qed.

(* '*' is one label and never the apex; '**' one or more and never the apex. *)
Theorem star_is_one_label : forall base n,
  name_match false (map Some base ++ [None]) n = true ->
  exists l, n = base ++ [l].
Proof.
  induction base as [|b base IH]; intros n H; unfold name_match in H;
    apply andb_true_iff in H; destruct H as [M L]; simpl in *.
  - destruct n as [|l [|? n]]; simpl in *; try discriminate. exists l; auto.
  - destruct n as [|m n]; simpl in *; try discriminate.
    apply andb_true_iff in M; destruct M as [E M]. apply String.eqb_eq in E.
    destruct (IH n) as [l ->]; [|subst; exists l; auto].
    unfold name_match. rewrite M. auto.
Qed.

Theorem deep_is_never_the_apex : forall base n,
  name_match true (map Some base) n = true -> n <> base.
Proof.
  intros base n H ->. unfold name_match in H. apply andb_true_iff in H.
  destruct H as [_ H]. rewrite map_length, Nat.ltb_irrefl in H. discriminate.
Qed.

(* --- paths: segments from the left ----------------------------------------- *)

Fixpoint below (p s : list string) : bool :=
  match p, s with
  | [], _ => true
  | a :: p, b :: s => String.eqb a b && below p s
  | _ :: _, [] => false
  end.

(* A prefix ends where a segment does: "/api" is never "/api-evil". *)
Theorem below_is_whole_segments : forall p s,
  below p s = true <-> exists t, s = p ++ t.
Proof.
  induction p as [|a p IH]; intros s; simpl.
  - split; [exists s; auto | auto].
  - destruct s as [|b s].
    + split; [discriminate | intros [t H]; discriminate].
    + rewrite andb_true_iff, String.eqb_eq, IH. split.
      * intros [-> [t ->]]. exists t; auto.
      * intros [t H]. inversion H; subst. split; [auto | exists t; auto].
Qed.

Lemma below_firstn : forall k p s, (List.length p <= k)%nat ->
  below p (firstn k s) = below p s.
Proof.
  induction k as [|k IH]; intros p s H.
  - destruct p; simpl in *; [destruct s; reflexivity | lia].
  - destruct p as [|a p]; destruct s as [|b s]; simpl in *; auto.
    rewrite IH; auto; lia.
Qed.

Lemma below_blur : forall ks fresh p s, known ks fresh = false ->
  (forall a, In a p -> In a ks) ->
  below p (map (blur ks fresh) s) = below p s.
Proof.
  induction p as [|a p IH]; intros [|b s] F H; simpl in *; auto.
  rewrite blur_eqb, IH; auto.
Qed.

(* --- lists ----------------------------------------------------------------- *)

Lemma existsb_ext_in : forall A (f g : A -> bool) l,
  (forall x, In x l -> f x = g x) -> existsb f l = existsb g l.
Proof.
  induction l as [|a l IH]; intros H; simpl; auto.
  rewrite H, IH; simpl; auto. intros; apply H; simpl; auto.
Qed.

Lemma existsb_mono : forall A (f : A -> bool) l m, incl l m ->
  existsb f l = true -> existsb f m = true.
Proof.
  intros A f l m I H. apply existsb_exists in H as [x [? ?]].
  apply existsb_exists. exists x; auto.
Qed.
