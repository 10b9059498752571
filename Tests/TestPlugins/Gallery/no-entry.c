/* Is a library without an entry point. */
int nothing_of_interest = 1;
