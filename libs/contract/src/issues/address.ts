import { z } from 'zod';
import { issueNumberText } from '../wire/parameter-texts.ts';

const number = issueNumberText('must be a positive integer').meta({
  description: 'Number of the issue on the host.',
  example: '7',
});

/** How paths name an issue. */
export const issueParams = z.object({
  owner: z.string().min(1).max(100).meta({ description: 'Owner of the repo.', example: 'acme' }),
  repo: z.string().min(1).max(100).meta({ description: 'Name of the repo.', example: 'shop' }),
  issue: number,
});

/** The same where only the number is looked at: a name that can be no repo's is answered like an unknown one. */
export const anyIssueParams = issueParams.extend({
  owner: z.string().meta({ description: 'Owner of the repo.', example: 'acme' }),
  repo: z.string().meta({ description: 'Name of the repo.', example: 'shop' }),
});
