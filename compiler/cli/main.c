/* The program: what it does is in command.h. */
#include "compiler/cli/frame/command.h"

int main(int argc, char **argv)
{
	return command_main(argc, argv);
}
