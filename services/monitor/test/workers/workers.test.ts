/** Workers and agents: one file for Jest, so that the database is created once. */
import './worker-routes.ts';
import './worker-figures.ts';
import './agent-check.ts';
import './agent-restart.ts';
