import type { Row } from './model.ts';
import { analyticsRow } from './rows/analytics/analytics.ts';
import { eventPageRow } from './rows/analytics/event-page.ts';
import { claimBatchedRow } from './rows/claim-batched.ts';
import { claimLatencyRow } from './rows/claim-latency.ts';
import { claimOverHttpRow } from './rows/claim-over-http.ts';
import { coldStartRow } from './rows/cold-start.ts';
import { enqueueRow } from './rows/enqueue.ts';
import { imageSizeRow } from './rows/image-size.ts';
import { logSearchRow } from './rows/log-search.ts';
import { monitorPagesRow } from './rows/monitor-pages.ts';
import { projectionsRow } from './rows/projections.ts';
import { bearerCheckRow } from './rows/reads/bearer-check.ts';
import { issueListRow } from './rows/reads/issue-list.ts';
import { smallGetRow } from './rows/reads/small-get.ts';
import { unchangedListRow } from './rows/reads/unchanged-list.ts';
import { whyRow } from './rows/reads/why.ts';
import { reportRow } from './rows/report.ts';
import { retrievalRow } from './rows/retrieval.ts';
import { startAgainRow } from './rows/start-again.ts';
import { connectionsRow } from './rows/stream/connections.ts';
import { fanOutRow } from './rows/stream/fan-out.ts';
import { latencyRow } from './rows/stream/latency.ts';
import { wakeUpRow } from './rows/stream/wake-up.ts';

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
  startAgainRow,
  imageSizeRow,
];
