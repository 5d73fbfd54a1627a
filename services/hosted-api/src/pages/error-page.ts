import type { ErrorPage } from '@pipeline/http';
import { noticePage } from './notice-page.ts';

const AGAIN = 'Open the page again.';

/** Title, problem and help, by status. */
const NOTICES: Readonly<Record<number, [string, string, string]>> = {
  403: ['Please start again', 'The request came from a page of another site.', AGAIN],
  500: ['Something went wrong', 'The service could not answer.', 'Try again in a minute.'],
  503: ['Not available', 'The service cannot answer right now.', 'Nothing was changed. Try again in a minute.'],
};

/** Renders the page for a browser when the page, or a stage before it, fails. */
export const errorPage: ErrorPage = ({ status, headers }) => {
  if (status === 429) return waitPage(Number(headers['retry-after']));
  return noticePage(...(NOTICES[status] ?? ['Please check', 'The service cannot read the request.', AGAIN]));
};

/** Renders the page for a rate limit. @param seconds time until the next request is allowed; NaN = unknown. */
export const waitPage = (seconds: number) =>
  noticePage('Please wait', 'There were too many requests from your network.', `Please ${tryAgainIn(seconds)}.`);

/** Returns the end of a sentence with the time of the next try. @param seconds NaN = unknown. */
export function tryAgainIn(seconds: number): string {
  const minutes = Math.ceil((seconds || 60) / 60);
  return `try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}`;
}
