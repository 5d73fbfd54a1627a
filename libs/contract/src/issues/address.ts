import { z } from 'zod';
import { issueNumberText } from '../wire/parameter-texts.ts';

const number = issueNumberText('must be a positive integer').meta({
  description: 'Issue number on the host.',
  example: '7',
});

/** Path parameters of an issue. */
export const issueParams = z.object({
  owner: z.string().min(1).max(100).meta({ description: 'Owner of the repo.', example: 'acme' }),
  repo: z.string().min(1).max(100).meta({ description: 'Name of the repo.', example: 'shop' }),
  issue: number,
});

/** Like `issueParams`, but only the number is validated: an invalid repo name is treated like an unknown repo. */
export const anyIssueParams = issueParams.extend({
  owner: z.string().meta({ description: 'Owner of the repo.', example: 'acme' }),
  repo: z.string().meta({ description: 'Name of the repo.', example: 'shop' }),
});
