import type { Row } from './model.ts';
import { claimBatchedRow } from './rows/claim-batched.ts';
import { claimLatencyRow } from './rows/claim-latency.ts';
import { claimOverHttpRow } from './rows/claim-over-http.ts';
import { coldStartRow } from './rows/cold-start.ts';
import { enqueueRow } from './rows/enqueue.ts';
import { reportRow } from './rows/report.ts';

/** Every row there is, by the number of its goal. */
export const ROWS: readonly Row[] = [
  enqueueRow,
  claimBatchedRow,
  claimOverHttpRow,
  claimLatencyRow,
  coldStartRow,
  reportRow,
];
