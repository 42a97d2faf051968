from retinue.chat.routes import audio, chat, conversations, jobs, logs

ROUTES = (
    chat.routes,
    chat.chat_agents,
    audio.routes,
    jobs.routes,
    jobs.aliases,
    conversations.routes,
    logs.routes,
)
