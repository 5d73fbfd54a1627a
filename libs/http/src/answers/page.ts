export interface Page {
  html: string;
  /** Content-Security-Policy of the page. */
  policy: string;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Renders the page for an error status; `headers` are those of the response, such as Retry-After. */
export type ErrorPage = (error: { status: number; headers: Headers }) => Page;
