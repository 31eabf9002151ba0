"""What the Redis engine does beyond the ports' promises."""

from redis.asyncio import Redis

from tests.redis_server import RedisServer
from weft.engines.redis import WRITE_CHUNK, open_redis_table
from weft.ports import Put


async def test_a_write_of_several_steps_is_one_command(redis_server: RedisServer) -> None:
    """So that whoever is killed meanwhile has written all of it or nothing."""
    table = await open_redis_table(redis_server.url + "#steps")
    client = Redis.from_url(redis_server.url)
    before = await scripts_run(client)
    steps = [[Put((b"group", bytes([step, place])), b"row") for place in range(100)] for step in range(4)]
    await table.write(*steps)
    assert await scripts_run(client) == before + 1
    await table.write(*[[Put((b"group", place.to_bytes(2, "big")), b"row") for place in range(WRITE_CHUNK)]] * 3)
    assert await scripts_run(client) == before + 4
    await client.aclose()
    await table.close()


async def scripts_run(client: Redis) -> int:
    stats = await client.info("commandstats")
    return int(stats.get("cmdstat_eval", {}).get("calls", 0))
