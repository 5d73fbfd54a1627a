/** Actions on issues: one file for Jest, so that the database is created once. */
import './single-actions.ts';
import './bulk-actions.ts';
import './plans.ts';
