/*
 * What is alike in a suggestion, said in fewer words that permit more: requests
 * below one folder, names below one domain.
 */
#ifndef COMPILER_CLI_ACCOUNT_SUGGEST_MERGE_H
#define COMPILER_CLI_ACCOUNT_SUGGEST_MERGE_H

#include "compiler/cli/account/suggest.h"

/* "/a/b" of "/a/b/c" and of "/a/b/c/"; empty at the root. */
struct str suggest_merge_folder(struct str path);
/* Sorted, each once, and none that another one permits as well. */
void suggest_merge_same(suggest_rules *list);
/* Folders in the place of siblings; list is as suggest_merge_same() left it. */
void suggest_merge_paths(struct arena *a, suggest_rules *list);
/*
 * `*.x` behind the grants of names alike, which are marked as merged; only
 * where may(ctx, grant) holds for it.
 */
void suggest_merge_names(struct arena *a, suggest_grants *list,
			 bool (*may)(void *ctx, const struct suggest_grant *g),
			 void *ctx);
int suggest_merge_by_port(const void *a, const void *b);

#endif
