/** Rows of the workflow: one file for Jest, so that the database is created once. */
import './rows-of-issues.ts';
import './rows-beside-issues.ts';
