import type { Row } from '../runner/model.ts';
import { analyticsRow } from './analytics/analytics.ts';
import { eventPageRow } from './analytics/event-page.ts';
import { dashboardRow } from './dashboard/dashboard.ts';
import { logSearchRow } from './log-search.ts';
import { monitorPagesRow } from './monitor-pages.ts';
import { projectionsRow } from './projections.ts';
import { claimBatchedRow } from './queue/claim-batched.ts';
import { claimLatencyRow } from './queue/claim-latency.ts';
import { claimOverHttpRow } from './queue/claim-over-http.ts';
import { enqueueRow } from './queue/enqueue.ts';
import { reportRow } from './queue/report.ts';
import { bearerCheckRow } from './reads/bearer-check.ts';
import { issueListRow } from './reads/issue-list.ts';
import { smallGetRow } from './reads/small-get.ts';
import { unchangedListRow } from './reads/unchanged-list.ts';
import { whyRow } from './reads/why.ts';
import { retrievalRow } from './retrieval.ts';
import { coldStartRow } from './start/cold-start.ts';
import { imageSizeRow } from './start/image-size.ts';
import { startAgainRow } from './start/start-again.ts';
import { connectionsRow } from './stream/connections.ts';
import { fanOutRow } from './stream/fan-out.ts';
import { latencyRow } from './stream/latency.ts';
import { wakeUpRow } from './stream/wake-up.ts';

/** Every row there is, by the number of its goal. */
export const ROWS: readonly Row[] = [
  smallGetRow,
  issueListRow,
  unchangedListRow,
  whyRow,
  enqueueRow,
  claimBatchedRow,
  claimOverHttpRow,
  claimLatencyRow,
  fanOutRow,
  connectionsRow,
  latencyRow,
  wakeUpRow,
  analyticsRow,
  coldStartRow,
  reportRow,
  bearerCheckRow,
  projectionsRow,
  monitorPagesRow,
  eventPageRow,
  logSearchRow,
  retrievalRow,
  dashboardRow,
  startAgainRow,
  imageSizeRow,
];
