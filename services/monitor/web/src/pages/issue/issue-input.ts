/** Address of an issue as its routes take it. */
export interface IssueInput {
  params: { owner: string; repo: string; issue: string };
  query: { tenant?: string };
}
