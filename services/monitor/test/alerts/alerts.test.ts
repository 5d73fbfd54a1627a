/** Alerts: one file for Jest, so that the database is created once. */
import './alert-list.ts';
import './alert-deliveries.ts';
import './daily-digest.ts';
import './digest.ts';
import './regression-guard.ts';
