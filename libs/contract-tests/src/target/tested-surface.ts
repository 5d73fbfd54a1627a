import type { CredentialMatrix } from './credentials.ts';
import type { Target } from './target.ts';

/** A surface under test with the credentials for it. */
export interface TestedSurface {
  target: Target;
  matrix: CredentialMatrix;
}
