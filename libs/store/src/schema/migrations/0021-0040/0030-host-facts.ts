import { type Kysely, sql } from 'kysely';

/** Host times and actors, which decide the order of deliveries, new requests, and the author of a text. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Deliveries of one lane (an issue or a pull request) are handled in order, those of different lanes concurrently.
  await sql`alter table pipeline.webhook_deliveries add column lane text not null default ''`.execute(db);
  // Read and written by the intake only, with the row locked; an issue from before this migration has no row
  // until the host reports something about it. All times but seen_at are the host's, in whole seconds.
  await sql`
    create table pipeline.issue_host_facts (
      tenant_id bigint not null,
      issue_id bigint not null,
      acted_at timestamptz,
      acted_event_id bigint,
      state_at timestamptz,
      labels_at timestamptz,
      label_times jsonb not null default '{}',
      pause_at timestamptz,
      command_at timestamptz,
      text_sha256 text not null,
      text_at timestamptz not null,
      text_accepted_by text,
      changed_title text,
      changed_body text,
      changed_sha256 text,
      changed_by text,
      changed_at timestamptz,
      seen_at timestamptz,
      primary key (tenant_id, issue_id),
      foreign key (tenant_id, issue_id) references pipeline.issues
    ) with (fillfactor = 80)`.execute(db);
  // Shown to people: the text on the host is not the one that agents work on. Null = it is.
  await sql`
    alter table pipeline.issues add column text_changed_at timestamptz, add column text_changed_by text`.execute(db);
}
