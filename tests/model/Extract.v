(* The decision as a program, for oracle.ml, and what no theorem may stand on. *)
From Coq Require Import List String NArith Extraction ExtrOcamlBasic ExtrOcamlNativeString.
From Model Require Import Base Decide Borders Theorems Files Layers.
Extraction Language OCaml.
Extract Inductive nat => int [ "0" "succ" ] "(fun z s n -> if n = 0 then z () else s (n - 1))".
Extract Constant Nat.ltb => "(fun (a : int) b -> a < b)".
Extract Constant Nat.eqb => "(fun (a : int) b -> a = b)".
Extraction "decide.ml" decide file_fate policy_of files_of settled
  borders_of addrs words holds.

Print Assumptions star_is_one_label.
Print Assumptions deep_is_never_the_apex.
Print Assumptions below_is_whole_segments.
Print Assumptions decided_at_the_borders.
Print Assumptions each_is_a_cell.
Print Assumptions diff_misses_nothing.
Print Assumptions diff_misses_no_gain.
Print Assumptions never_misses_nothing.
Print Assumptions deny_wins.
Print Assumptions a_denial_never_widens.
Print Assumptions a_grant_never_narrows.
Print Assumptions the_named_case.
Print Assumptions the_case_of_connect.
Print Assumptions the_other_named_case.
Print Assumptions floor_holds.
Print Assumptions private_holds.
Print Assumptions all_ports_is_each_port.
Print Assumptions a_later_line_wins.
Print Assumptions what_no_line_says_is_free.
Print Assumptions a_later_bang_takes_back.
Print Assumptions never_below_an_excluded_folder.
Print Assumptions a_line_never_frees.
Print Assumptions a_bang_never_binds.
Print Assumptions without_bangs_lists_add_up.
Print Assumptions hidden_wins.
Print Assumptions who_writes_can_read.
Print Assumptions a_name_at_any_depth.
Print Assumptions folders_only.
Print Assumptions a_star_stays_in_its_segment.
Print Assumptions all_below_a_folder.
Print Assumptions fast_frees_all_below.
Print Assumptions same_entries_same_verdict.
Print Assumptions order_of_layers_decides_nothing.
Print Assumptions deny_of_any_layer_wins.
Print Assumptions allow_of_any_layer_wins_over_ask.
Print Assumptions a_bare_star_denied_is_nothing.
Print Assumptions what_adds_nothing_widens_nothing.
Print Assumptions nothing_wider_runs_unapproved.
Print Assumptions a_layer_without_bangs_frees_nothing.
Print Assumptions a_session_is_more_entries.
Print Assumptions a_session_lifts_no_denial.
Print Assumptions what_was_said_last_holds.
Print Assumptions the_last_change_stands.
