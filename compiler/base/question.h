/*
 * What the events are called that the gate tells of a question, and the records
 * that the launcher makes of them: somebody waits for a person, and how that
 * ended.
 */
#ifndef COMPILER_BASE_QUESTION_H
#define COMPILER_BASE_QUESTION_H

#include "compiler/base/str.h"

#define QUESTION_EVENT "question"
#define ANSWERED_EVENT "answered"

/* Does an answer, as a record has it, let through what was asked about? */
bool question_is_yes(struct str answer);

#endif
