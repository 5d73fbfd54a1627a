import { WORK_TASK_TYPES } from '@pipeline/domain';
import { sql } from 'kysely';

/** The types of work tasks as a list for `task_type in (…)`; an issue has one work task at most. */
export const WORK_TYPES = sql.join(WORK_TASK_TYPES.map((type) => sql.lit(type)));
