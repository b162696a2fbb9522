/*
 * One decision of the gate, for people.
 */
#ifndef COMPILER_CLI_ACCOUNT_LOGS_LINE_H
#define COMPILER_CLI_ACCOUNT_LOGS_LINE_H

#include "compiler/cli/text/view.h"

#include <cjson/cJSON.h>

/* line: of decisions.jsonl. False when it is no decision. */
must_check bool logs_line(const struct view *v, struct str line);

/* Of a record: "GET api.example.com:443/x (200)"; cleaned. */
void logs_line_object(struct buf *out, const cJSON *d);
/* Of a question: "POST api.example.com:443/x"; of its answer: "question 1:
 * once". */
void logs_line_question(struct buf *out, const cJSON *d);
void logs_line_answer(struct buf *out, const cJSON *d);
/* Of what the record lacks: "12 events are not in the trace, 37 by now". */
void logs_line_lost(struct buf *out, const cJSON *d);
/* Whose answer or change it is: "by alice"; nothing where nobody is named. */
void logs_line_person(struct buf *out, const cJSON *d);
/* Of a refusal or a question: "by curl[10]: curl -sS https://x.test/", and
 * "others read there: gists (paste)"; empty where it is not known. */
struct str logs_line_process(struct arena *a, const cJSON *d);
struct str logs_line_readers(struct arena *a, const cJSON *d);
/* "no-grant: …  .membrane.yaml:3"; of what was allowed the line alone. */
struct str logs_line_why(struct arena *a, const cJSON *d, bool allow);

#endif
