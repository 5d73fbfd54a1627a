/** Settings: one file for Jest, so that the database is created once. */
import './config.ts';
import './config-reload.ts';
import './example-config.ts';
import './database-place.ts';
