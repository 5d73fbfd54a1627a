/** Tracks: one file for Jest, so that the database is created once. */
import './track-routes.ts';
import './track-prompts.ts';
import './track-runs.ts';
