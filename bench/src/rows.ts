import type { Row } from './model.ts';
import { claimBatchedRow } from './rows/claim-batched.ts';
import { claimOverHttpRow } from './rows/claim-over-http.ts';
import { enqueueRow } from './rows/enqueue.ts';

/** Every row there is, by the number of its goal. */
export const ROWS: readonly Row[] = [enqueueRow, claimBatchedRow, claimOverHttpRow];
