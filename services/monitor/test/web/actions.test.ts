/**
 * Changes by the dashboard: one file for Jest, so that server, browser and history are created once. Bulk actions pause
 * the issues of the history, and the last part deletes its tasks.
 */
import './actions/plan-approval.ts';
import './actions/stream.ts';
import './actions/issue-actions.ts';
import './actions/outcomes.ts';
import './actions/workers.ts';
import './actions/repairs.ts';
import './actions/without-worker.ts';
