import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { createTranslator } from "../../shared/i18n/words";
import { SheetSection } from "../../shared/patterns/sheet";
import { ChannelTypeIcon } from "./channel_icon";
import { channelProviderNameOf, describeProvider } from "./channel_words";
import style from "./channels.module.css";
import { CHANNEL_TYPES } from "./filters";
import { type ChannelProvider, channelProvidersQuery, type DeliveryChannelListed } from "./queries";
import en from "./words.en.json";

const say = createTranslator(en, "features/channels");

/** Providers of which there is no channel yet, below the list. */
export function MoreProviders({ channels }: { channels: DeliveryChannelListed[] }) {
  const { data: providers } = useQuery(channelProvidersQuery);
  const used = new Set(channels.map(({ provider }) => provider));
  const others = (providers ?? []).filter(({ id, type }) => !used.has(id) && type !== "in_app");
  if (!others.length) return null;
  return (
    <div className={style.more}>
      <SheetSection title={say("addAnother")}>
        <div className={style.offers}>
          {others.map((provider) => (
            <ProviderOffer key={provider.id} provider={provider} />
          ))}
        </div>
      </SheetSection>
    </div>
  );
}

/** All providers, by the kind of channel. */
export const ProviderChoice = ({ providers }: { providers: ChannelProvider[] }) => (
  <>
    <p className="t-2">{say("chooseProvider")}</p>
    {CHANNEL_TYPES.map((type) => (
      <SheetSection key={type} title={say(`type_${type}`)} note={say(`type_${type}_note`)}>
        <div className={style.offers}>
          {providers
            .filter((provider) => provider.type === type)
            .map((provider) => (
              <ProviderOffer key={provider.id} provider={provider} hasNote />
            ))}
        </div>
      </SheetSection>
    ))}
  </>
);

const ProviderOffer = ({ provider, hasNote }: { provider: ChannelProvider; hasNote?: boolean }) => (
  <Link className={style.offer} to="/channels/new" search={{ provider: provider.id }}>
    <ChannelTypeIcon type={provider.type} small />
    <span className="stack grow">
      <span className="t-13 t-500">{channelProviderNameOf(provider)}</span>
      {hasNote && <span className="t-12 t-3">{describeProvider(provider.id)}</span>}
    </span>
  </Link>
);
