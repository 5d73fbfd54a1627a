import type { Case } from '../property/result.ts';
import { curlCommand } from '../target/curl.ts';
import type { Target } from '../target/target.ts';

/** A command line that sends the request of a generated case again. */
export const curlOfCase = (target: Target, { request, caller: { credential } }: Case): string =>
  curlCommand(target.url, target.httpOf(request, credential), credential);
