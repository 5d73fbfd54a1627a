import { AppError, type ErrorCode } from '@pipeline/domain';

/** An error whose answer carries headers of its own, such as a challenge or a time to wait. */
export class AnswerError extends AppError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>>) {
    super(code, message);
    this.name = 'AnswerError';
    this.headers = headers;
  }
}
