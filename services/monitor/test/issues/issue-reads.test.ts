/** Issues that are read: one file for Jest, so that the database is created once. */
import './issue-search.ts';
import './issue-detail.ts';
import './issue-detail-paths.ts';
import './timeline.ts';
import './blocked-issues.ts';
