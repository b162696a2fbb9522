(* Files: what gitignore's lines say of a path, and what `ignore`, `readonly`
   and `protect` make of it: doc/semantics.md, section 5. *)
From Coq Require Import List Bool NArith Ascii String Arith.
From Model Require Import Base.
Import ListNotations.

Definition bytes := list ascii.
Inductive piece :=
| Byte (c : ascii)
| AnyByte                                        (* ? *)
| OneOf (but : bool) (l : list (ascii * ascii))  (* [a-z], [!a-z] *)
| Star.                                          (* bytes of one segment *)
Inductive part :=
| Seg (ps : list piece)
| Deep.   (* '**': whole segments, none or more; at the end one or more *)
Record line := Line {
  l_back : bool;              (* '!' *)
  l_folders : bool;           (* a '/' at the end *)
  l_anchored : bool;          (* a '/' before that; else its one part is a base name's *)
  l_parts : list part }.
Definition path := list bytes.

Definition between (c : ascii) (r : ascii * ascii) : bool :=
  let x := N_of_ascii c in (N_of_ascii (fst r) <=? x)%N && (x <=? N_of_ascii (snd r))%N.

Fixpoint glob (ps : list piece) : bytes -> bool :=
  match ps with
  | [] => fun s => match s with [] => true | _ => false end
  | Byte c :: ps => fun s => match s with x :: s => Ascii.eqb c x && glob ps s | [] => false end
  | AnyByte :: ps => fun s => match s with _ :: s => glob ps s | [] => false end
  | OneOf but l :: ps => fun s => match s with
      | x :: s => xorb but (existsb (between x) l) && glob ps s | [] => false end
  | Star :: ps => fix star (s : bytes) := glob ps s ||
      match s with _ :: s => star s | [] => false end
  end.

Fixpoint spans (ps : list part) : path -> bool :=
  match ps with
  | [] => fun s => match s with [] => true | _ => false end
  | Seg p :: ps => fun s => match s with x :: s => glob p x && spans ps s | [] => false end
  | [Deep] => fun s => match s with _ :: _ => true | [] => false end
  | Deep :: ps => fix deep (s : path) := spans ps s ||
      match s with _ :: s => deep s | [] => false end
  end.

(* Does the line speak of the path itself? *)
Definition says (l : line) (folder : bool) (p : path) : bool :=
  (negb (l_folders l) || folder) &&
  if l_anchored l then spans (l_parts l) p
  else match rev p with [] => false | base :: _ => spans (l_parts l) [base] end.

(* The last line that does decides: Some true, it falls under the list. *)
Definition last_said (ls : list line) (folder : bool) (p : path) : option bool :=
  fold_left (fun v l => if says l folder p then Some (negb (l_back l)) else v) ls None.
Definition picked (ls : list line) (folder : bool) (p : path) : bool :=
  match last_said ls folder p with Some v => v | None => false end.

(* The folders above, from the outermost, without the path itself. *)
Fixpoint above (p : path) : list path :=
  match p with
  | [] => []
  | [_] => []
  | x :: p => [x] :: map (cons x) (above p)
  end.
(* Itself, or a folder above. *)
Definition falls_under (ls : list line) (folder : bool) (p : path) : bool :=
  existsb (picked ls true) (above p) || picked ls folder p.

Record files := Files { ignore : list line; readonly : list line; protect : list line }.
Inductive access := Read | Write | Home.
Inductive fate := Free | Ignored | Readonly | Protected.
Definition file_fate (f : files) (a : access) (folder : bool) (p : path) : fate :=
  match a with
  | Home => if falls_under (protect f) folder p then Protected else Free
  | Read => if falls_under (ignore f) folder p then Ignored else Free
  | Write => if falls_under (ignore f) folder p then Ignored
             else if falls_under (readonly f) folder p then Readonly else Free
  end.

(* --- a later line wins ------------------------------------------------------- *)

Lemma last_said_snoc : forall ls l d p,
  last_said (ls ++ [l]) d p = if says l d p then Some (negb (l_back l)) else last_said ls d p.
Proof. intros. unfold last_said. rewrite fold_left_app. reflexivity. Qed.

Theorem a_later_line_wins : forall ls l d p, says l d p = true ->
  picked (ls ++ [l]) d p = negb (l_back l).
Proof. intros. unfold picked. rewrite last_said_snoc, H. reflexivity. Qed.

Theorem what_no_line_says_is_free : forall ls d p,
  (forall l, In l ls -> says l d p = false) -> picked ls d p = false.
Proof.
  induction ls as [|l ls IH] using rev_ind; intros d p H; auto.
  unfold picked in *. rewrite last_said_snoc, H by (apply in_or_app; simpl; auto).
  apply IH. intros; apply H. apply in_or_app; auto.
Qed.

(* '!' takes back what no folder above has lost... *)
Theorem a_later_bang_takes_back : forall ls l d p, l_back l = true -> says l d p = true ->
  existsb (picked (ls ++ [l]) true) (above p) = false ->
  falls_under (ls ++ [l]) d p = false.
Proof.
  intros ls l d p B S A. unfold falls_under. rewrite A, a_later_line_wins, B by auto. auto.
Qed.

Lemma above_app : forall q t, q <> [] -> t <> [] -> In q (above (q ++ t)).
Proof.
  induction q as [|x q IH]; intros t Q T; [congruence|]. simpl.
  destruct (q ++ t) as [|y r] eqn:E.
  - apply app_eq_nil in E. destruct E; congruence.
  - destruct q as [|z q]; [left; auto|right]. apply in_map. rewrite <- E. apply IH; congruence.
Qed.
Lemma above_trans : forall q t r, t <> [] -> In r (above q) -> In r (above (q ++ t)).
Proof.
  induction q as [|x q IH]; intros t r T H; [destruct H|].
  destruct q as [|z q]; [destruct H|]. cbn [app]. cbn [above] in *.
  destruct H as [<-|H]; [left; auto|right].
  apply in_map_iff in H as [s [<- H]]. apply in_map. apply (IH t s T H).
Qed.

(* ...and of what is below a folder that falls under the list nothing, whatever
   lines there are. *)
Theorem never_below_an_excluded_folder : forall ls q t d, q <> [] -> t <> [] ->
  falls_under ls true q = true -> falls_under ls d (q ++ t) = true.
Proof.
  intros ls q t d Q T H. unfold falls_under in *. apply orb_true_iff in H.
  apply orb_true_iff. left. apply existsb_exists. destruct H as [H|H].
  - apply existsb_exists in H as [r [I H]]. exists r. split; auto. apply above_trans; auto.
  - exists q. split; auto. apply above_app; auto.
Qed.

(* --- one line more ------------------------------------------------------------ *)

Lemma existsb_le : forall A (f g : A -> bool) l, (forall x, f x = true -> g x = true) ->
  existsb f l = true -> existsb g l = true.
Proof. intros A f g l H X. apply existsb_exists in X as [x [I X]]. apply existsb_exists. eauto. Qed.

(* A line without '!', behind the others, frees nothing; one with '!' binds nothing. *)
Theorem a_line_never_frees : forall ls l d p, l_back l = false ->
  falls_under ls d p = true -> falls_under (ls ++ [l]) d p = true.
Proof.
  intros ls l d p B H.
  assert (P : forall d q, picked ls d q = true -> picked (ls ++ [l]) d q = true).
  { intros e q X. unfold picked in *. rewrite last_said_snoc, B. destruct (says l e q); auto. }
  unfold falls_under in *. apply orb_true_iff in H. apply orb_true_iff.
  destruct H; [left; eapply existsb_le; [apply (P true) | exact H] | right; auto].
Qed.
Theorem a_bang_never_binds : forall ls l d p, l_back l = true ->
  falls_under ls d p = false -> falls_under (ls ++ [l]) d p = false.
Proof.
  intros ls l d p B H. destruct (falls_under (ls ++ [l]) d p) eqn:E; auto.
  assert (P : forall d q, picked (ls ++ [l]) d q = true -> picked ls d q = true).
  { intros e q X. unfold picked in *. rewrite last_said_snoc, B in X.
    destruct (says l e q); [discriminate | auto]. }
  rewrite <- H. unfold falls_under in *. apply orb_true_iff in E. symmetry. apply orb_true_iff.
  destruct E as [E|E]; [left; eapply existsb_le; [apply (P true) | exact E] | right; auto].
Qed.

(* Without '!' lists add up, in whatever order: entries of `protect` do. *)
Theorem without_bangs_lists_add_up : forall ks ls d p,
  (forall l, In l (ks ++ ls) -> l_back l = false) ->
  falls_under (ks ++ ls) d p = falls_under ks d p || falls_under ls d p.
Proof.
  assert (P : forall ls d p, (forall l, In l ls -> l_back l = false) ->
    picked ls d p = existsb (fun l => says l d p) ls).
  { induction ls as [|l ls IH] using rev_ind; intros d p H; auto.
    rewrite existsb_app. simpl. rewrite orb_false_r. unfold picked in *.
    rewrite last_said_snoc. rewrite H by (apply in_or_app; simpl; auto).
    rewrite <- IH by (intros; apply H, in_or_app; auto).
    destruct (says l d p); simpl; [rewrite orb_true_r | rewrite orb_false_r]; auto. }
  intros ks ls d p H. unfold falls_under.
  assert (K : forall l, In l ks -> l_back l = false) by (intros; apply H, in_or_app; auto).
  assert (L : forall l, In l ls -> l_back l = false) by (intros; apply H, in_or_app; auto).
  assert (A : forall d q, picked (ks ++ ls) d q = picked ks d q || picked ls d q).
  { intros e q. rewrite !P by auto. apply existsb_app. }
  rewrite A. replace (existsb (picked (ks ++ ls) true) (above p)) with
    (existsb (picked ks true) (above p) || existsb (picked ls true) (above p)).
  - destruct (existsb (picked ks true) (above p)), (existsb (picked ls true) (above p)),
      (picked ks d p), (picked ls d p); auto.
  - induction (above p) as [|q r IH]; simpl; auto. rewrite A, <- IH.
    destruct (picked ks true q), (picked ls true q), (existsb (picked ks true) r); auto.
Qed.

(* --- which list wins ------------------------------------------------------------ *)

Theorem hidden_wins : forall f d p, falls_under (ignore f) d p = true ->
  file_fate f Read d p = Ignored /\ file_fate f Write d p = Ignored.
Proof. intros f d p H. simpl. rewrite H. auto. Qed.
Theorem who_writes_can_read : forall f d p, file_fate f Write d p = Free -> file_fate f Read d p = Free.
Proof. intros f d p H. simpl in *. destruct (falls_under (ignore f) d p); [discriminate | auto]. Qed.

(* --- what a line says ------------------------------------------------------------ *)

(* One without a slash says the same of a base name at every depth. *)
Theorem a_name_at_any_depth : forall l d q x, l_anchored l = false ->
  says l d (q ++ [x]) = says l d [x].
Proof. intros l d q x A. unfold says. rewrite A, rev_unit. reflexivity. Qed.
Theorem folders_only : forall l p, l_folders l = true -> says l false p = false.
Proof. intros l p F. unfold says. rewrite F. reflexivity. Qed.

(* No '*' crosses a slash: a line of n segments without '**' speaks of paths
   of n segments. *)
Theorem a_star_stays_in_its_segment : forall ps p, ~ In Deep ps -> spans ps p = true ->
  List.length p = List.length ps.
Proof.
  induction ps as [|[q|] ps IH]; intros p D H.
  - destruct p; [auto | discriminate].
  - destruct p; simpl in H; [discriminate|]. apply andb_true_iff in H as [_ H].
    simpl. f_equal. apply IH; auto. simpl in D; auto.
  - exfalso; apply D; simpl; auto.
Qed.

(* A folder spelled out, and '**' behind it: all below, and not the folder. *)
Definition spelled_out (f : path) : list part := map (fun s => Seg (map Byte s)) f.
Lemma glob_itself : forall s t, glob (map Byte s) t = true <-> t = s.
Proof.
  induction s as [|c s IH]; intros [|x t]; simpl; split; intros H; try congruence.
  - apply andb_true_iff in H as [E H]. apply Ascii.eqb_eq in E. apply IH in H. congruence.
  - inversion H; subst. rewrite Ascii.eqb_refl. apply IH. auto.
Qed.
Theorem all_below_a_folder : forall f p, spans (spelled_out f ++ [Deep]) p = true <->
  exists t, t <> [] /\ p = f ++ t.
Proof.
  induction f as [|s f IH]; intros p; simpl.
  - destruct p; split; intros H; try congruence.
    + destruct H as [t [T E]]. simpl in E. congruence.
    + eexists; split; [|reflexivity]. congruence.
  - destruct p as [|x p]; split; intros H; try congruence.
    + destruct H as [t [_ E]]. discriminate.
    + apply andb_true_iff in H as [G H]. apply glob_itself in G. apply IH in H as [t [T E]].
      exists t. subst; auto.
    + destruct H as [t [T E]]. inversion E; subst.
      apply andb_true_iff. split; [apply glob_itself; auto | apply IH; eauto].
Qed.

(* So what is behind both lists for a folder of `fast` leaves nothing below it
   to any line, but where the folder itself falls under one. *)
Definition fast_line (f : path) : line := Line true false true (spelled_out f ++ [Deep]).
Lemma above_below : forall p r, In r (above p) -> exists t, t <> [] /\ p = r ++ t.
Proof.
  induction p as [|x p IH]; intros r H; [destruct H|]. destruct p as [|y p]; [destruct H|].
  cbn [above] in H. destruct H as [<-|H].
  - exists (y :: p). split; [congruence | auto].
  - apply in_map_iff in H as [s [<- H]]. apply IH in H as [t [T E]]. exists t. split; auto.
    rewrite E. auto.
Qed.
Theorem fast_frees_all_below : forall ls f t d, f <> [] -> t <> [] ->
  falls_under (ls ++ [fast_line f]) d (f ++ t) = falls_under (ls ++ [fast_line f]) true f.
Proof.
  intros ls f t d F T.
  destruct (falls_under (ls ++ [fast_line f]) true f) eqn:E.
  - apply never_below_an_excluded_folder; auto.
  - assert (B : forall e s, s <> [] -> picked (ls ++ [fast_line f]) e (f ++ s) = false).
    { intros e s S. rewrite a_later_line_wins; auto. unfold says; simpl.
      apply all_below_a_folder. eauto. }
    unfold falls_under in *. apply orb_false_iff in E as [E1 E2]. rewrite B by auto.
    rewrite orb_false_r. destruct (existsb _ (above (f ++ t))) eqn:X; auto.
    apply existsb_exists in X as [r [I X]].
    (* A folder above is above f, f, or below it. *)
    pose proof (above_below _ _ I) as [u [U Q]].
    assert (L : (exists s, f = r ++ s) \/ (exists s, r = f ++ s)).
    { clear - Q. revert f t u Q. induction r as [|x r IH]; intros f t u Q.
      - left. exists f. auto.
      - destruct f as [|y f]; [right; exists (x :: r); auto|]. inversion Q; subst.
        destruct (IH _ _ _ H1) as [[s ->]|[s ->]]; [left | right]; exists s; auto. }
    destruct L as [[s S]|[s S]].
    + destruct s as [|z s].
      * rewrite app_nil_r in S. subst. congruence.
      * assert (R : r <> []) by (clear - I; intros ->; induction (f ++ t) as [|a [|b l] IH];
          simpl in I; try contradiction; destruct I as [I|I]; [congruence|];
          apply in_map_iff in I as [? [? ?]]; congruence).
        rewrite <- E1. symmetry. apply existsb_exists. exists r. split; auto.
        subst f. apply above_app; congruence.
    + destruct s as [|z s].
      * rewrite app_nil_r in S. subst. congruence.
      * subst r. rewrite B in X; congruence.
Qed.
