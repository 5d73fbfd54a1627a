/** Writes to the host: one file for Jest, so that the database is created once. */
import './projections.ts';
import './fenced-leader.ts';
import './projection-actions.ts';
import './no-access.ts';
