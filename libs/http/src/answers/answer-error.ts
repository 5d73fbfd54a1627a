import { AppError, type ErrorCode } from '@pipeline/domain';

/** An error with additional response headers, such as a challenge or Retry-After. */
export class AnswerError extends AppError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>>) {
    super(code, message);
    this.name = 'AnswerError';
    this.headers = headers;
  }
}
