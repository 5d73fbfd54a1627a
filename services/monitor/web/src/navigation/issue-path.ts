/** Path of the page of an issue. */
export const issuePath = (repo: string, issueNumber: number): string => `/issues/${repo}/${issueNumber}`;
