/*
 * Does the disk take names that differ in the case of letters for the same?
 * FAT, and what a Mac or Windows shares with its virtual machine, do.
 */
#ifndef RUNTIME_VIEW_FOLDS_H
#define RUNTIME_VIEW_FOLDS_H

#include <stdbool.h>

/*
 * Asked of a folder (O_PATH) by looking for one of its entries under another
 * spelling. One that has no entry with a letter does as far as its kind of file
 * system may. Folders below may differ from it: they are not asked.
 */
bool folds_case(int dir);

#endif
