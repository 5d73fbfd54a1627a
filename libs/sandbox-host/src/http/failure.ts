/** An answer in the host's own form: `{message, documentation_url, status}`, with `errors` for a 422. */
export class Failure extends Error {
  readonly status: number;
  readonly errors: FieldError[] | string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    errors?: FieldError[] | string[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'Failure';
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }

  body() {
    return {
      message: this.message,
      ...(this.errors ? { errors: this.errors } : {}),
      documentation_url: 'https://docs.github.com/rest',
      status: String(this.status),
    };
  }
}

export interface FieldError {
  resource: string;
  field: string;
  code: 'missing' | 'missing_field' | 'invalid' | 'already_exists' | 'custom';
  message?: string;
}

export const notFound = (): Failure => new Failure(404, 'Not Found');
export const forbidden = (message = 'Must have push access to the repository'): Failure => new Failure(403, message);

export const invalid = (resource: string, field: string, message?: string): Failure =>
  new Failure(422, 'Validation Failed', [
    message === undefined ? { resource, field, code: 'invalid' } : { resource, field, code: 'custom', message },
  ]);
