/** Figures: one file for Jest, so that the database is created once. */
import './metric-definitions.ts';
import './history-figures.ts';
import './scoreboard.ts';
import './analytics-rows.ts';
import './large-sums.ts';
import './dashboard-figures.ts';
import './dashboard-response.ts';
import './dashboard-timelines.ts';
