import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * For the environment of Node processes that tests start: what one of them has compiled, the next one takes from there.
 * That is half of the time of a service's start.
 */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), 'pipeline-test-compile-cache') };
