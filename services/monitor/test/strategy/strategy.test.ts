/** The strategy: one file for Jest, so that the database is created once. */
import './charters.ts';
import './strategy-snapshots.ts';
import './strategy-cycle.ts';
import './strategy-failures.ts';
import './strategy-weeks.ts';
