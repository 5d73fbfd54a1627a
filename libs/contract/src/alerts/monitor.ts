import { ALERT_DETECTORS, ALERT_SEVERITIES, type Alert as DomainAlert, isStorable } from '@pipeline/domain';
import { z } from 'zod';
import { PaginatedResponse } from '../wire/envelopes.ts';
import { pageQuery } from '../wire/paging.ts';
import { issueNumberText, slugText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { Alert } from './alert.ts';

const wire: (alert: DomainAlert) => z.input<typeof Alert> = (alert) => alert;
void wire;

const text = z.string().max(200).refine(isStorable, 'must hold no NUL and no half of a surrogate pair');

const listAlerts = route({
  id: 'listAlerts',
  method: 'get',
  path: '/api/alerts',
  summary: 'List alerts',
  description:
    'Those that are open, unless asked otherwise; the one seen last first. A resolved one is kept for 90 days.',
  tags: ['Alerts'],
  auth: 'operator',
  query: z.object({
    status: z
      .enum(['open', 'resolved', 'all'], 'must be open, resolved or all')
      .default('open')
      .meta({ description: 'Which of them.', example: 'open' }),
    severity: z.enum(ALERT_SEVERITIES).optional().meta({ description: 'Only of this severity.', example: 'critical' }),
    detector: z.enum(ALERT_DETECTORS).optional().meta({ description: 'Only of this one.', example: 'queue_age' }),
    repo: slugText('must be owner/name')
      .optional()
      .meta({ description: 'Only about this repo.', example: 'acme/shop' }),
    issue: issueNumberText('must be a positive whole number')
      .transform(Number)
      .optional()
      .meta({ description: 'Only about issues of this number.', example: '7' }),
    tenant: text.optional().meta({ description: 'Only of the tenant of this external id.', example: 'default' }),
    ...pageQuery({ limit: { default: 100, max: 500 }, notANumber: 'refuse' }),
  }),
  replies: { 200: { description: 'One page.', body: PaginatedResponse(Alert) } },
});

export const alertRoutes = [listAlerts] as const;
