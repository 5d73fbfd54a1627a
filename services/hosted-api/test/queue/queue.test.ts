/** The queue of workers: one file for Jest, so that the API and its store are created once. */
import './side-tasks.ts';
import './claim-waiters.ts';
import './isolation.ts';
import './long-poll.ts';
import './task-credentials.ts';
import './cost-limits.ts';
