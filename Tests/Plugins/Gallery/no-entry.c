/* Is a library, but exports no entry. */
int nothing_of_interest = 1;
