import { onOff } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import type { IssueInput, Reply } from '../../api/types.ts';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { Panel } from '../../page/panel.tsx';
import styles from './issue.module.css';

type Message = Reply<'listAgentMessages'>['items'][number];

const FIELDS = { tools: onOff() };

/** Messages of agents and their tools, in order. */
export function Messages({ input }: { input: IssueInput }) {
  const { values, set } = useAddress(FIELDS);
  const query = useQuery(
    read('listAgentMessages', {
      query: { ...input.params, ...input.query, ...(values.tools && { include: 'tools' as const }) },
    }),
  );
  return (
    <Panel
      title="Messages"
      query={query}
      height={300}
      actions={<SwitchField label="Tools" isSelected={values.tools} onChange={(tools) => set({ tools })} />}
    >
      {() =>
        query.data?.items.length === 0 ? (
          <EmptyNote title="Agents reported no messages for this issue." />
        ) : (
          <>
            <ul className={styles.list}>
              {query.data?.items.map((message) => (
                <MessageBlock
                  key={`${message.taskId} ${message.invocationIndex} ${message.sequence}`}
                  message={message}
                />
              ))}
            </ul>
            {query.data?.page.hasMore && (
              <p className={styles.muted}>The first {query.data.page.limit} messages are shown.</p>
            )}
          </>
        )
      }
    </Panel>
  );
}

function MessageBlock({ message }: { message: Message }) {
  const { agent, role, subtype, toolName, toolInput, toolOutput, content, truncated, createdAt } = message;
  const tool = toolInput ?? toolOutput;
  return (
    <li className={styles.block}>
      <p className={styles.muted}>
        {agent}, {role}
        {subtype !== 'text' && `, ${subtype.replace('_', ' ')}`}
        {toolName && ` ${toolName}`}, <When at={createdAt} as="second" />
      </p>
      {content && <ScrolledText className={styles.text}>{content}</ScrolledText>}
      {tool !== undefined && <ScrolledText className={styles.text}>{JSON.stringify(tool, null, 2)}</ScrolledText>}
      {truncated && <p className={styles.muted}>cut off at 64 KiB</p>}
    </li>
  );
}
