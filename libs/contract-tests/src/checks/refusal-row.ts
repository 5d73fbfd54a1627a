/** A request that must be refused, and with what. */
export interface Refusal {
  endpoint: string;
  /** Default GET. */
  method?: string;
  /** Template: `{repo}` and the like are filled with what the target has. */
  address: string;
  body?: string;
  /** Completes "refuses …". */
  what: string;
  status: number;
  code?: string;
  /** Template of the exact text, not encoded. */
  message?: string;
}
